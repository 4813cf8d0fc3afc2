package browsertest

import (
	"compress/gzip"
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

// TestAccessibility checks every page in both themes, from the width of a phone to that of a large screen.
func TestAccessibility(t *testing.T) {
	source, err := axe()
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range []string{"light", "dark"} {
		t.Run(theme, func(t *testing.T) {
			t.Parallel()
			b := open(t, main)
			b.expect("404")
			b.theme(theme)
			if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: source}); err != nil {
				t.Fatal(err)
			}
			all := pages()
			all["login"] = "/login"
			for name, path := range all {
				b.goTo(path)
				b.settled()
				for _, width := range []int64{360, 800, 1100, 1440} {
					b.do(chromedp.EmulateViewport(width, 800))
					for _, f := range eval[[]finding](b, `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() => axe.run(document, {resultTypes: ['violations']})).then((r) => r.violations.map((v) => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.map((n) => ({HTML: n.html.slice(0, 300), FailureSummary: n.failureSummary}))})))`) {
						for i, n := range f.Nodes[:min(len(f.Nodes), 3)] {
							t.Errorf("%s, %d px: %s (%s): %s\n%s (%d of %d)\n%s", name, width, f.ID, f.Impact, f.Help, n.HTML, i+1, len(f.Nodes), n.FailureSummary)
						}
					}
					if wide := eval[string](b, tooWide+`document.documentElement.scrollWidth > innerWidth ? tooWide() : ''`); wide != "" {
						t.Errorf("%s, %d px is too wide: %s", name, width, wide)
					}
				}
			}
		})
	}
}
