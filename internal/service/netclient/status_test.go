package netclient_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/service/netclient"
)

// TestStatus checks that redirects are followed up to a limit, and that the body is not
// awaited.
func TestStatus(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })
	mux.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
	mux.Handle("/moved", http.RedirectHandler("/ok", http.StatusFound))
	mux.Handle("/circle", http.RedirectHandler("/circle", http.StatusFound))
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s := httptest.NewServer(mux)
	defer s.Close()
	for path, want := range map[string]int{"/ok": 204, "/busy": 503, "/moved": 204, "/endless": 200, "/none": 404} {
		if got, err := netclient.Status(t.Context(), steps.StatusRequest{URL: s.URL + path}); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", path, got, err, want)
		}
	}
	if _, err := netclient.Status(t.Context(), steps.StatusRequest{URL: s.URL + "/circle?token=hunter22"}); err == nil || strings.Contains(err.Error(), "hunter22") {
		t.Errorf("a circle of redirects: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := netclient.Status(ctx, steps.StatusRequest{URL: s.URL + "/silent"}); err == nil {
		t.Error("a silent server answers")
	}
}
