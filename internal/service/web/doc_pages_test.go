package web_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/service/ui"
	"github.com/flowrun/flowrun/internal/service/web"
)

// TestDocPages: everyone who has signed in can read the documentation, and nobody else.
func TestDocPages(t *testing.T) {
	b := newBench(t, web.Options{})
	stranger, c := b.browser(), b.signIn(token)
	for _, path := range []string{"/docs", "/docs/explanation/states.html", "/docs/style.css", "/docs/nothing"} {
		if res, _ := b.browse(stranger, path, nil); res.StatusCode != 303 || !strings.HasPrefix(res.Header.Get("Location"), "/login?next=%2Fdocs") {
			t.Errorf("%s for a stranger: %d %v", path, res.StatusCode, res.Header)
		}
	}
	if res, _ := b.browse(c, "/docs", nil); res.StatusCode != 303 || res.Header.Get("Location") != "/docs/README.html" {
		t.Errorf("/docs: %d %v", res.StatusCode, res.Header)
	}
	for path, want := range map[string][2]string{
		"/docs/README.html": {`<a href="guides/use-secrets.html">`, "text/html; charset=utf-8"}, "/docs/guides/use-secrets.html": {`<h1 id="how-to-use-secrets">`, "text/html; charset=utf-8"},
		"/docs/style.css": {"prefers-color-scheme", "text/css; charset=utf-8"}, "/docs/search.js": {"const sections", "text/javascript; charset=utf-8"},
	} {
		res, text := b.browse(c, path, nil)
		if res.StatusCode != 200 || !strings.Contains(text, want[0]) || res.Header.Get("Content-Type") != want[1] || res.Header.Get("Content-Security-Policy") != ui.Policy {
			t.Errorf("%s: %d %v\n%.2000s", path, res.StatusCode, res.Header, text)
		}
	}
	for _, path := range []string{"/docs/nothing", "/docs/states.md", "/docs/docs.go", "/docs/guides", "/docs/guides/", "/docs/%2e%2e%2fgo.mod", "/docs/guides/%2e%2e/%2e%2e/go"} {
		if res, text := b.browse(c, path, nil); res.StatusCode == 200 || strings.Contains(text, "module") {
			t.Errorf("%s: %d %s", path, res.StatusCode, text)
		}
	}
}
