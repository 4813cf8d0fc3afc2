package browsertest

import (
	"strconv"
	"strings"
	"testing"
)

func itoa(n int) string { return strconv.Itoa(n) }

// preview opens the preview of a file of an artifact.
func (b *tab) preview(file string) {
	b.Helper()
	b.clickOn(`[...document.querySelectorAll('.files button.link')].find((e) => e.innerText === "` + file + `" && e.getAttribute('aria-expanded') === 'false')`)
}

// Three clicks from Home, a person sees what a run has kept. Nothing in it runs.
func TestArtifactsTab(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goToText("/runs?tool=keeps", runs["keeps"])
	b.click("Artifacts of run " + runs["keeps"])
	for _, text := range []string{"table.csv", "data.json", "notes.md", "index.html", "sub/logo.svg", "dot.png", "sha256:"} {
		b.has(text)
	}
	b.preview("table.csv")
	b.until(`[...document.querySelectorAll('.preview-box td')].map((c) => c.innerText).join('|') === 'Doe, "John"|Rome'`)
	b.preview("data.json")
	b.clickOn(`[...document.querySelectorAll('.tree summary')].find((s) => s.innerText.startsWith('hosts'))`)
	b.until(`document.querySelector('.tree')?.innerText.includes('"a"')`)
	b.preview("notes.md")
	b.until(`document.querySelector('.preview-box .heading')?.innerText === 'Notes' && document.querySelector('.preview-box strong')?.innerText === 'bold' && document.querySelector('.preview-box').innerText.includes('<script>')`)
	if eval[bool](b, `!!document.querySelector('.preview-box a')`) {
		t.Error("a link of a text leads to code")
	}
	b.preview("dot.png")
	b.until(`document.querySelector('.preview-box img')?.naturalWidth === 1`)
	b.expect("Blocked script execution") // in the frames, as it must be
	b.expect("Content Security Policy")
	b.preview("index.html")
	b.until(`document.querySelector('.preview-box iframe')`)
	b.preview("sub/logo.svg")
	b.settled()
	if title := eval[string](b, `document.title`); !strings.Contains(title, "keeps") {
		t.Errorf("the title is %q: something ran", title)
	}
	for link, media := range map[string]string{"Download all": "application/zip", "Download as zip": "application/zip", "Download": ""} {
		got := eval[string](b, `fetch([...document.querySelectorAll('main a[download]')].find((a) => a.innerText === "`+link+`").href).then((r) => r.ok ? r.headers.get('Content-Type') : 'failed')`)
		if !strings.HasPrefix(got, media) || got == "failed" {
			t.Errorf("%s: %s", link, got)
		}
	}
	b.goTo("/runs/" + runs["keeps"] + "/steps?step=make")
	b.clickOn(`[...document.querySelectorAll('.kept a')].find((a) => a.innerText === 'site')`)
	b.until(`location.pathname.endsWith('/artifacts')`)
}

// A form keeps what was written, also lists and texts of several lines, and can give an empty text.
func TestFormTexts(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/tools/keeps/run")
	b.until(`document.querySelector('#param-TEXT')?.tagName === 'TEXTAREA'`)
	b.fill("TEXT", "one\ntwo")
	b.fill("HOSTS", "a, b")
	b.click("Add an item")
	b.until(`document.querySelectorAll('.list input').length === 2`)
	eval[bool](b, `(() => { const f = document.querySelectorAll('.list input')[1]; Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(f, 'c'); return f.dispatchEvent(new Event('input', {bubbles: true})); })()`)
	b.goTo("/runs")
	b.goTo("/tools/keeps/run")
	b.until(`document.querySelector('#param-TEXT').value === 'one\ntwo' && [...document.querySelectorAll('.list input')].map((i) => i.value).join('|') === 'a, b|c'`)
	b.clickOn(`document.querySelector('.form button[type=submit]')`)
	b.until(`/^\/runs\//.test(location.pathname)`)
	id := eval[string](b, `location.pathname.split('/')[2]`)
	params := func(id string) map[string]any {
		if err := main.await(id, "succeeded"); err != nil {
			t.Fatal(err)
		}
		doc, err := main.call("GET", "/api/v1/runs/"+id, nil)
		if err != nil {
			t.Fatal(err)
		}
		return doc["params"].(map[string]any)
	}
	if p := params(id); p["TEXT"] != "one\ntwo" || len(p["HOSTS"].([]any)) != 2 || p["HOSTS"].([]any)[0] != "a, b" {
		t.Errorf("%v", p)
	}
	b.goTo("/tools/keeps/run")
	b.click("Clear")
	b.clickOn(`document.querySelector('.empty-text input')`)
	b.until(`document.querySelector('#param-TEXT').placeholder === 'An empty text'`)
	b.clickOn(`document.querySelector('.form button[type=submit]')`)
	b.until(`/^\/runs\//.test(location.pathname)`)
	if p := params(eval[string](b, `location.pathname.split('/')[2]`)); p["TEXT"] != "" {
		t.Errorf("%v", p)
	}
}
