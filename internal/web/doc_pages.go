package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/flowrun/flowrun/internal/docsite"
	"github.com/flowrun/flowrun/internal/ui"
)

// docPatterns are the patterns of the documentation. Its pages are for everyone who has signed in.
func docPatterns() []string { return []string{"GET /docs", "GET /docs/"} }

// serveDocs serves the pages of the documentation.
func serveDocs(w http.ResponseWriter, r *http.Request) {
	topic, below := strings.CutPrefix(r.URL.Path, "/docs/")
	if !below {
		http.Redirect(w, r, "/docs/"+docsite.Index, http.StatusSeeOther)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", ui.Policy)
	h.Set("Cache-Control", "no-cache")
	if topic == "style.css" {
		h.Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(docsite.Style())
		return
	}
	page, err := docsite.Site{}.Page(topic)
	switch {
	case errors.Is(err, docsite.ErrNoPage):
		http.Error(w, "There is no such page. The list of all pages: /docs", http.StatusNotFound)
	case err != nil:
		http.Error(w, "cannot show the page: "+err.Error(), http.StatusInternalServerError)
	default:
		h.Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	}
}
