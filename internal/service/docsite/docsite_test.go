package docsite_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/service/docsite"
)

var (
	link   = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anchor = regexp.MustCompile(` id="([^"]*)"`)
)

// TestPages renders every page, and follows every link between them, with its anchor.
func TestPages(t *testing.T) {
	topics, err := docsite.Topics()
	if err != nil || len(topics) < 60 {
		t.Fatalf("%d pages, %v", len(topics), err)
	}
	site := docsite.Site{Suffix: ".html", Search: true}
	pages, anchors := map[string]string{"style.css": "", "search.js": ""}, map[string][]string{}
	for _, topic := range topics {
		b, err := site.Page(topic)
		if err != nil {
			t.Fatalf("%s: %v", topic, err)
		}
		pages[topic+".html"] = string(b)
		for _, m := range anchor.FindAllSubmatch(b, -1) {
			if slices.Contains(anchors[topic+".html"], string(m[1])) {
				t.Errorf("%s: two elements have the id %q", topic, m[1])
			}
			anchors[topic+".html"] = append(anchors[topic+".html"], string(m[1]))
		}
	}
	for name, text := range pages {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
			if err != nil {
				t.Errorf("%s: link %q: %v", name, m[1], err)
				continue
			}
			if u.Scheme != "" {
				continue
			}
			target := name
			if u.Path != "" {
				target = path.Join(path.Dir(name), u.Path)
			}
			if _, ok := pages[target]; !ok {
				t.Errorf("%s: link %q: there is no %s", name, m[1], target)
			}
			if u.Fragment != "" && !slices.Contains(anchors[target], u.Fragment) {
				t.Errorf("%s: link %q: %s has no #%s", name, m[1], target, u.Fragment)
			}
		}
	}
}

// TestPage shows what happens to links, headings and code.
func TestPage(t *testing.T) {
	b, err := docsite.Site{}.Page("guides/use-secrets")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>How to use secrets - flowrun</title>", `<link rel="stylesheet" href="../style.css">`, `<h1 id="how-to-use-secrets">`, `<a href="../README">`, `<pre><code`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in\n%s", want, b)
		}
	}
	if strings.Contains(string(b), "<script") || strings.Contains(string(b), "style=") {
		t.Error("the page has scripts or inline styles")
	}
	b, err = docsite.Site{}.Page(docsite.Index)
	if err != nil || !strings.Contains(string(b), `href="https://github.com/flowrun/flowrun/blob/main/CONTRIBUTING.md"`) {
		t.Errorf("%v\n%s", err, b)
	}
}

func TestNoPage(t *testing.T) {
	for _, topic := range []string{"", "nothing", "../README", "/explanation/states", "explanation/states.md", "states", "docs.go", "guides", "guides/../explanation/states", `..\README`} {
		if _, err := (docsite.Site{}).Page(topic); !errors.Is(err, docsite.ErrNoPage) {
			t.Errorf("%q: %v", topic, err)
		}
	}
}

// TestSearchScript: every section is found under an address that exists.
func TestSearchScript(t *testing.T) {
	site := docsite.Site{Suffix: ".html", Search: true}
	script, err := site.SearchScript()
	if err != nil {
		t.Fatal(err)
	}
	data, _, ok := bytes.Cut(bytes.TrimPrefix(script, []byte("const sections = ")), []byte(";\n//"))
	var sections []struct{ Path, Title, Text string }
	if err := json.Unmarshal(data, &sections); !ok || err != nil || len(sections) < 300 {
		t.Fatalf("%d sections, %v", len(sections), err)
	}
	pages := map[string]string{}
	for _, s := range sections {
		name, id, _ := strings.Cut(s.Path, "#")
		if pages[name] == "" {
			b, err := site.Page(strings.TrimSuffix(name, ".html"))
			if err != nil {
				t.Fatalf("%s: %v", s.Path, err)
			}
			pages[name] = string(b)
		}
		if id != "" && !strings.Contains(pages[name], ` id="`+id+`"`) {
			t.Errorf("%s: there is no such heading", s.Path)
		}
	}
}

// TestNoImages: pages load nothing from elsewhere, so that they work without a network and under a strict policy.
func TestNoImages(t *testing.T) {
	page, err := docsite.Site{}.Page("reference/web-ui")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(page, []byte("<img")) || !bytes.Contains(page, []byte(`docs/images/run-graph.png">The graph of a run`)) {
		t.Errorf("%s", page)
	}
}
