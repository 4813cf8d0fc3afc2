package browsertest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// serveText serves a page of another site, and returns its address.
func serveText(t testing.TB, html string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, html)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
