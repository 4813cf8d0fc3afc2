package web

import (
	"net/http"
	"strings"

	"github.com/flowrun/flowrun/internal/service/docpages"
	"github.com/flowrun/flowrun/internal/service/ui"
)

// docPatterns are the patterns of the documentation. Its pages are for everyone who has signed in.
func docPatterns() []string { return []string{"GET /docs", "GET /docs/"} }

// serveDocs serves the pages of the documentation. A page has no scripts but the search, which is a file.
func serveDocs(w http.ResponseWriter, r *http.Request) {
	name, below := strings.CutPrefix(r.URL.Path, "/docs/")
	if !below {
		http.Redirect(w, r, "/docs/README.html", http.StatusSeeOther)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", ui.Policy)
	h.Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, r, docpages.Site(), name)
}
