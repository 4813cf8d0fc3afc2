package browsertest

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// axe is the source of axe-core, which finds problems of accessibility.
var axe = sync.OnceValues(func() (string, error) {
	f, err := os.Open("axe/axe.min.js.gz")
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(z)
	return string(text), err
})

// finding is a violation of a rule.
type finding struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

// TestAccessibility checks every page in both themes, and at the width of a phone.
func TestAccessibility(t *testing.T) {
	source, err := axe()
	if err != nil {
		t.Fatal(err)
	}
	for _, look := range []struct {
		theme string
		width int64
	}{{"light", 1280}, {"dark", 1280}, {"light", 390}} {
		t.Run(fmt.Sprint(look.theme, " ", look.width), func(t *testing.T) {
			t.Parallel()
			b := open(t, main)
			b.expect("404")
			b.theme(look.theme)
			b.do(chromedp.EmulateViewport(look.width, 800))
			if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: source}); err != nil {
				t.Fatal(err)
			}
			all := pages()
			all["login"] = "/login"
			for name, path := range all {
				b.goTo(path)
				b.settled()
				for _, f := range eval[[]finding](b, `axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.map((n) => ({HTML: n.html.slice(0, 300), FailureSummary: n.failureSummary}))})))`) {
					if f.Impact != "serious" && f.Impact != "critical" {
						continue
					}
					for i, n := range f.Nodes[:min(len(f.Nodes), 3)] {
						t.Errorf("%s: %s (%s): %s\n%s (%d of %d)\n%s", name, f.ID, f.Impact, f.Help, n.HTML, i+1, len(f.Nodes), n.FailureSummary)
					}
				}
				if wide := eval[string](b, tooWide+`document.documentElement.scrollWidth > innerWidth ? tooWide() : ''`); wide != "" {
					t.Errorf("%s is too wide: %s", name, wide)
				}
			}
		})
	}
}
