package servertest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// httpMark is the URL of the HTTP server in the texts of cases.
const httpMark = "@HTTP@"

// serveHTTP starts the HTTP server of the cases and writes its URL into their texts.
func serveHTTP(t *testing.T, cases []*testCase) {
	t.Helper()
	var asked sync.Map // the paths of requests that have come before: each run has its own
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		switch path := r.URL.Path; {
		case path == "/json":
			w.Header().Set("ETag", `"v1"`)
			io.WriteString(w, `{"id": 7}`)
		case path == "/echo" && r.Method == http.MethodPost:
			io.Copy(w, r.Body)
		case path == "/echo":
			io.WriteString(w, r.URL.RawQuery)
		case path == "/auth":
			io.WriteString(w, r.Header.Get("Authorization"))
		case path == "/404":
			w.WriteHeader(http.StatusNotFound)
		case strings.HasPrefix(path, "/second"):
			if _, again := asked.LoadOrStore(path, true); again {
				io.WriteString(w, "ready")
				return
			}
			fallthrough
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(s.Close)
	for _, c := range cases {
		c.text = strings.ReplaceAll(c.text, httpMark, s.URL)
	}
}
