package browsertest

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// began starts a run of a tool in the main service.
func began(t *testing.T, tool string, params map[string]any, status string) string {
	t.Helper()
	id, err := main.startRun(tool, params)
	if err == nil {
		err = main.await(id, status)
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// rows returns the texts of the rows of the list of runs.
const rows = `[...document.querySelectorAll('table.runs tbody tr')].map((r) => r.innerText.replace(/\s+/g, ' '))`

// Home shows what runs, what waits, what failed and what starts next.
func TestHome(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	for _, text := range []string{"slow", "Release to everyone?", "step test failed", "nightly"} {
		b.has(text)
	}
	b.clickOn(`document.querySelector('a[href="/runs/` + runs["slow"] + `"]')`)
	b.until(`location.pathname === '/runs/` + runs["slow"] + `'`)
	b.has("running")
}

// Every page of the list of 5,000 runs shows soon, and each run once.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs")
	b.until(rows + `.length === 50`)
	seen := map[string]bool{}
	for range 4 {
		for _, r := range eval[[]string](b, `[...document.querySelectorAll('table.runs tbody code.id')].map((c) => c.innerText)`) {
			if seen[r] {
				t.Errorf("run %s is shown twice", r)
			}
			seen[r] = true
		}
		first := eval[string](b, `document.querySelector('table.runs tbody code.id').innerText`)
		b.click("Older runs")
		b.until(fmt.Sprintf(`document.querySelector('table.runs tbody code.id')?.innerText !== %q && !document.querySelector('[aria-busy=true]')`, first))
	}
	if len(seen) != 200 {
		t.Errorf("%d runs on 4 pages", len(seen))
	}
	b.do(chromedp.NavigateBack())
	b.click("Newest runs")
	b.until(`!location.search.includes('before')`)
}

// Filters are in the address: the same address shows the same runs.
func TestFilters(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs?tool=deploy")
	b.until(rows + `.length >= 1 && ` + rows + `.every((r) => r.includes('deploy'))`)
	b.click("failed")
	b.until(`new URLSearchParams(location.search).get('status') === 'failed'`)
	b.until(rows + `.length >= 1 && ` + rows + `.every((r) => r.includes('failed'))`)
	address := eval[string](b, `location.pathname + location.search`)
	other := open(t, main)
	other.goTo(address)
	other.until(rows + `.length >= 1 && ` + rows + `.every((r) => r.includes('deploy') && r.includes('failed'))`)
	other.goTo("/runs?q=NAME%3DAda")
	other.until(rows + `.length >= 1 && ` + rows + `.every((r) => r.includes('report'))`)
	other.goTo("/runs?q=" + runs["loop"])
	other.until(rows + `.length === 1`)
	for _, q := range []string{"label:team=ops", "label:team"} {
		other.goTo("/runs?q=" + url.QueryEscape(q))
		other.until(rows + `.length >= 1 && ` + rows + `.every((r) => r.includes('loop'))`)
	}
	other.goTo("/runs/" + runs["loop"])
	other.until(`document.querySelector('[aria-label="Labels"]')?.innerText.includes('ops')`)
	other.goTo("/runs?tool=nosuchtool")
	other.has("No run matches these filters.")
	other.click("Clear")
	other.until(rows + `.length === 50`)
}

// Keys move through the list and open a run.
func TestKeys(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	for i := 0; i < 10 && eval[string](b, `location.pathname`) != "/runs"; i++ {
		b.press("gr") // the second key has to follow soon, which a busy machine may delay
	}
	b.until(rows + `.length === 50`)
	last := eval[string](b, `[...document.querySelectorAll('table.runs code.id')].at(-1).innerText`)
	b.click("Older runs") // new runs do not change this page
	b.until(fmt.Sprintf(rows+`.length === 50 && !document.querySelector('table.runs').innerText.includes(%q)`, last))
	b.press("j")
	b.press("j")
	b.press("k")
	b.press("j")
	b.until(`document.querySelectorAll('tr.current').length === 1`)
	id := eval[string](b, `document.querySelector('tr.current code.id').innerText`)
	if second := eval[string](b, `document.querySelectorAll('table.runs tbody tr')[1].querySelector('code.id').innerText`); id != second {
		t.Errorf("the current run is %s, not %s", id, second)
	}
	b.press(kb.Enter)
	b.until(`location.pathname === '/runs/` + id + `'`)
	b.press("?")
	b.until(`document.querySelector('dialog[open]')`)
	b.has("Search this page")
	b.press(kb.Escape)
	b.until(`!document.querySelector('dialog[open]')`)
	b.goTo("/runs")
	b.press("/")
	b.until(`document.activeElement?.hasAttribute('data-search')`)
	eval[bool](b, `(document.activeElement.value = '') === ''`) // the driver types / although the page prevents it
	b.press("g")
	b.press("t")
	if got := eval[string](b, `location.pathname + ' ' + document.activeElement.value`); got != "/runs gt" {
		t.Errorf("keys in a field: %s", got)
	}
	b.until(`new URLSearchParams(location.search).get('q') === 'gt'`)
}

// The theme that somebody chooses stays.
func TestTheme(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	background := `getComputedStyle(document.documentElement).backgroundColor`
	b.theme("light")
	light := eval[string](b, background)
	eval[bool](b, `(() => { const s = document.querySelector('[aria-label=Theme]'); s.value = 'dark'; s.dispatchEvent(new Event('change', {bubbles: true})); return true; })()`)
	b.until(background + fmt.Sprintf(` !== %q`, light))
	dark := eval[string](b, background)
	b.goTo("/runs")
	if got := eval[string](b, background); got != dark {
		t.Errorf("after loading, the background is %s", got)
	}
	other := open(t, main)
	other.theme("dark")
	if got := eval[string](other, background); got != dark {
		t.Errorf("in a dark system, the background is %s", got)
	}
}

// A run is watched while it runs: its state and its log change without loading the page again.
func TestWatchLive(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "open")
	id := began(t, "gated", map[string]any{"FILE": gate}, "running")
	b := open(t, main)
	b.goTo("/runs/" + id + "/logs?step=wait")
	b.has("waiting for the file")
	b.until(`document.querySelector('.page-head').innerText.includes('running')`)
	eval[bool](b, `(window.stays = true)`)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.has("the file is there")
	b.until(`document.querySelector('.page-head').innerText.includes('succeeded')`)
	if !eval[bool](b, `window.stays === true`) {
		t.Error("the page was loaded again")
	}
}

// The list of runs shows a new run without loading the page again.
func TestListIsLive(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs?tool=loop")
	b.until(rows + `.length >= 1`)
	id := began(t, "loop", nil, "succeeded")
	b.has(id)
}

// The log of the step that failed opens, and the link to a line shows the same line to others.
func TestFailedStep(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["deploy"])
	b.has("step test failed")
	b.click("Logs")
	b.until(`location.pathname.endsWith('/logs')`)
	b.until(`document.querySelector('[aria-label="Log of test"]')`) // the step that failed
	b.has("FAIL: connection refused")
	b.click("stdout")
	b.has("test 300 ok")
	b.goTo("/runs/" + runs["deploy"] + "/logs?step=test&stream=stdout")
	b.until(`document.querySelector('.log-line[data-n="290"]')`)
	b.clickOn(`document.querySelector('a.line-number[data-n="290"]')`)
	b.until(`document.querySelector('.log-line.marked[data-n="290"]')`)
	address := eval[string](b, `location.pathname + location.search`)
	if !strings.Contains(address, "line=290") {
		t.Errorf("the address is %s", address)
	}
	other := open(t, main)
	other.goTo(address)
	other.until(`document.querySelector('.log-line.marked[data-n="290"]')?.innerText.includes('test 290 ok')`)
	other.until(`(() => { const r = document.querySelector('.log-line.marked').getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight; })()`)
}

// The attempts of a step have logs of their own.
func TestAttempts(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["deploy"] + "/logs?step=test&stream=stdout")
	b.until(`document.querySelector('[aria-label=Attempt]')?.options.length === 2`)
	eval[bool](b, `(() => { const s = document.querySelector('[aria-label=Attempt]'); s.value = '1'; s.dispatchEvent(new Event('change', {bubbles: true})); return true; })()`)
	b.until(`new URLSearchParams(location.search).get('try') === '1'`)
	b.has("test 300 ok")
}

// A search finds lines of the whole log, also those that are not shown.
func TestSearchLog(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["deploy"] + "/logs?step=test&stream=stdout")
	b.has("300 lines")
	eval[bool](b, `(() => { const f = document.querySelector('[aria-label="Search the log"]'); f.focus(); return true; })()`)
	b.do(chromedp.KeyEvent("TEST 29"))
	says := func(what string) { // exactly: a search for TEST 2 may be first, and has 111 lines
		b.until(`document.querySelector('section.log [role=status]')?.innerText === '` + what + `'`)
	}
	says("1 of 11")
	b.press(kb.Enter)
	says("2 of 11")
	b.until(`document.querySelector('.log-line.found')?.innerText.includes('test 290')`)
}

// Colours of a log are shown, and its control sequences are not.
func TestColours(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["report"] + "/logs?step=colour")
	b.until(`document.querySelector('.log-line')`)
	if got := eval[string](b, `document.querySelector('.log-line .line-text').textContent`); got != "red green plain\n" {
		t.Errorf("the line is %q", got)
	}
	b.until(`[...document.querySelectorAll('.log-line .line-text span')].some((s) => s.textContent === 'red' && s.className)`)
}

// The raw log can be downloaded.
func TestDownload(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["report"] + "/logs?step=collect&stream=stdout")
	b.until(`document.querySelector('a[download]')`)
	text := eval[string](b, `fetch(document.querySelector('a[download]').href).then((r) => r.text().then((t) => r.headers.get('content-disposition') + '\n' + t))`)
	if !strings.HasPrefix(text, "attachment") || !strings.Contains(text, "line 40 of Ada") {
		t.Errorf("%s", text)
	}
}

// A failed run is retried from a step, after the page has shown what runs again.
func TestRetryFromStep(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["deploy"] + "/logs?step=test")
	b.click("Retry from here")
	b.until(`document.querySelector('dialog[open]')`)
	b.has("Retry from test")
	b.until(`document.querySelector('dialog .step-list')`)
	text := eval[string](b, `document.querySelector('dialog').innerText`)
	if !strings.Contains(text, "Runs again") || !strings.Contains(text, "Keeps its result") || !strings.Contains(text, "build") {
		t.Errorf("%s", text)
	}
	b.click("Start the new run")
	b.until(`location.pathname.startsWith('/runs/') && !location.pathname.includes('` + runs["deploy"] + `')`)
	b.has("retry of " + runs["deploy"])
}

// A failed run is resumed in place.
func TestResume(t *testing.T) {
	t.Parallel()
	id := began(t, "deploy", map[string]any{"TARGET": "resume"}, "failed")
	b := open(t, main)
	b.goTo("/runs/" + id)
	b.click("Resume")
	b.until(`document.querySelector('dialog[open] .step-list')`)
	b.clickOn(`[...document.querySelectorAll('dialog button')].find((x) => x.innerText === 'Resume')`)
	b.has("The run continues")
	b.goTo("/runs/" + id + "/events")
	b.has("run.resumed")
}

// A running run is cancelled after a question.
func TestCancel(t *testing.T) {
	t.Parallel()
	id := began(t, "gated", map[string]any{"FILE": "/nonexistent"}, "running")
	b := open(t, main)
	b.goTo("/runs/" + id)
	b.click("Cancel")
	b.has("Cancel this run of gated?")
	b.click("Cancel the run")
	b.until(`document.querySelector('.page-head').innerText.includes('cancelled')`)
	if err := main.await(id, "cancelled"); err != nil {
		t.Error(err)
	}
}

// Several runs are cancelled at once.
func TestBulk(t *testing.T) {
	t.Parallel()
	one := began(t, "gated", map[string]any{"FILE": "/nonexistent/bulk"}, "running")
	two := began(t, "gated", map[string]any{"FILE": "/nonexistent/bulk"}, "running")
	b := open(t, main)
	b.goTo("/runs?q=" + "FILE%3D%2Fnonexistent%2Fbulk" + "&status=running")
	b.until(rows + `.length === 2`)
	b.clickOn(`document.querySelector('[aria-label="Select all runs of this page"]')`)
	b.has("2 runs selected")
	b.clickOn(`[...document.querySelectorAll('.bulk button')].find((x) => x.innerText === 'Cancel')`)
	b.until(`document.querySelector('dialog[open]')`)
	b.clickOn(`[...document.querySelectorAll('dialog button')].find((x) => x.innerText === 'Cancel 2 runs')`)
	for _, id := range []string{one, two} {
		if err := main.await(id, "cancelled"); err != nil {
			t.Error(err)
		}
	}
}

// An approval asks for its form. A value that is missing keeps the question open.
func TestApprove(t *testing.T) {
	t.Parallel()
	id := began(t, "release", nil, "waiting")
	b := open(t, main)
	b.goTo("/runs/" + id)
	b.has("Release to everyone?")
	b.click("Approve")
	b.until(`document.querySelector('.question :is(input, textarea):invalid')`)
	b.fill("VERSION", "1.2.3")
	b.fill("Comment", "looks good")
	b.click("Approve")
	b.click("Yes, approve")
	b.until(`document.querySelector('.page-head').innerText.includes('succeeded')`)
	for _, view := range []string{"/graph?step=gate", "/steps?step=gate"} {
		b.goTo("/runs/" + id + view)
		b.until(`/approved by (?!api )\S+ at \S+: looks good/.test(document.body.innerText) && [...document.querySelectorAll('[aria-label=Answer] .tag')].some((v) => v.innerText === 'VERSION 1.2.3')`)
	}
	b.goToText("/runs/"+id+"/events", "succeeded: approved by ")
	b.goTo("/runs/" + id + "/logs?step=publish")
	b.has("published 1.2.3")
}

// A question is rejected in the inbox, and leaves it.
func TestReject(t *testing.T) {
	t.Parallel()
	id := began(t, "release", nil, "waiting")
	b := open(t, main)
	b.goTo("/waiting")
	b.has(id)
	b.clickOn(`[...document.querySelectorAll('section.question')].find((q) => q.innerText.includes('` + id + `')).querySelector('.danger')`)
	b.click("Yes, reject")
	b.until(`!document.body.innerText.includes('` + id + `')`)
	if err := main.await(id, "failed"); err != nil {
		t.Error(err)
	}
}

// The navigation shows how many questions wait, also when one comes.
func TestWaitingBadge(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs?tool=release")
	b.until(`document.querySelector('nav .badge')`)
}

// Locks show who holds them.
func TestLocks(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/locks")
	b.has("machine")
	b.has("gpu")
	b.has("1 of 2")
	b.has(runs["slow"])
	b.click(runs["slow"])
	b.until(`location.pathname.startsWith('/runs/')`)
}

// The events and the definition of a run are shown as recorded.
func TestEventsAndDefinition(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["deploy"] + "/events")
	b.has("run.finished")
	b.clickOn(`document.querySelector('[aria-label="Event 1"]')`)
	b.until(`document.querySelector('dialog[open] pre')?.innerText.includes('"seq": 1')`)
	b.goTo("/runs/" + runs["deploy"] + "/definition")
	b.has("Deploys to a target")
	b.has("deploy.yaml")
}

// The page of a run shows what has changed since the last good one, and between two runs.
func TestChanges(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["deploy"])
	b.click("What has changed since it last succeeded?")
	b.until(`location.pathname.endsWith('/changes')`)
	b.has("No run of deploy before this one succeeded")
	bob := began(t, "report", map[string]any{"NAME": "Bob"}, "succeeded")
	b.goTo("/runs/" + bob + "/changes?with=" + runs["report"])
	b.until(`[...document.querySelectorAll('table.changes tr')].some((r) => r.innerText.replace(/\s+/g, ' ').trim() === 'NAME "Ada" "Bob"')`)
	b.goTo("/runs/" + bob + "/changes?with=" + runs["deploy"])
	b.has("deploy.yaml")
	b.has("no longer used")
	b.until(`document.querySelectorAll('.diff .removed').length > 3`)
}

// A run can be started again at the command line and by a program.
func TestCopy(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["report"])
	eval[bool](b, `(() => { window.copied = []; navigator.clipboard.writeText = (t) => { window.copied.push(t); return Promise.resolve(); }; return true; })()`)
	b.click("More actions")
	b.click("Copy as CLI")
	b.click("Copy as curl")
	b.until(`window.copied.length === 2`)
	got := eval[[]string](b, `window.copied`)
	if !strings.HasPrefix(got[0], "flowrun run report ") || !strings.Contains(got[0], "NAME=Ada") || !strings.HasPrefix(got[1], "curl ") || strings.Contains(got[1], "Cookie") {
		t.Errorf("%q", got)
	}
}

// What does not exist is reported, with the way back.
func TestMissing(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.expect("404")
	b.goTo("/runs/1m80yahhymcge")
	b.until(`document.querySelector('main').innerText.length > 30`)
	b.goTo("/runs/" + runs["deploy"] + "/nosuchtab")
	res, err := http.Get(main.url + "/nosuchpage")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, _ = io.Copy(io.Discard, res.Body); res.StatusCode != 401 {
		t.Errorf("an unknown address: %d", res.StatusCode)
	}
}

// The pages can be used on a phone.
func TestPhone(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	b.goTo("/runs?q=" + runs["deploy"])
	b.until(rows + `.length === 1`)
	b.click("deploy")
	b.until(`location.pathname.startsWith('/runs/1')`)
	b.click("Logs")
	b.has("FAIL: connection refused")
	if bars := eval[string](b, `[...document.querySelectorAll('.sidebar, .tabs')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.className).join()`); bars != "" {
		t.Errorf("a part of these is out of sight: %s", bars)
	}
}
