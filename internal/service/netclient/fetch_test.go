package netclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/service/netclient"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func all(*url.URL) error                         { return nil }
func everywhere(_, _ string, _ netip.Addr) error { return nil }

// TestDo checks the method, headers, body and response, and that redirects follow the mode
// of the request and are permitted before they are followed.
func TestDo(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Add("X-Two", "1")
		w.Header().Add("X-Two", "2")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Header.Get("X-A"), r.Host, b)
	})
	mux.Handle("/moved", http.RedirectHandler("/echo", http.StatusTemporaryRedirect))
	mux.Handle("/circle", http.RedirectHandler("/circle?token=hunter22", http.StatusFound))
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 10_000_001)) })
	mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s := httptest.NewServer(mux)
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	do := func(path string, change func(*call.FetchRequest)) (*call.FetchAnswer, error) {
		r := call.FetchRequest{Method: "GET", URL: s.URL + path, Allow: all, Reach: everywhere}
		if change != nil {
			change(&r)
		}
		return netclient.Fetch(t.Context(), r)
	}
	a, err := do("/moved", func(r *call.FetchRequest) {
		r.Method, r.Body, r.Header = "PUT", []byte("the body"), [][2]string{{"x-a", "b"}, {"host", "other.example"}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "PUT b " + host + " the body"; string(a.Body) != want || a.Status != 418 || a.StatusText != "I'm a teapot" || a.URL != s.URL+"/echo" {
		t.Errorf("%+v, body %q, want %q", a, a.Body, want)
	}
	two := 0
	for _, h := range a.Header {
		if h[0] == "x-two" {
			two++
		}
	}
	if two != 2 {
		t.Errorf("headers: %v", a.Header)
	}
	if a, err := do("/moved", func(r *call.FetchRequest) { r.Redirect = "manual" }); err != nil || a.Status != 307 {
		t.Errorf("manual: %+v, %v", a, err)
	}
	if _, err := do("/moved", func(r *call.FetchRequest) { r.Redirect = "error" }); err == nil {
		t.Error("redirect: 'error' follows")
	}
	denied := errors.New("PermissionDenied: Permission not granted: network:local:" + host)
	if _, err := do("/moved", func(r *call.FetchRequest) {
		r.Allow = func(u *url.URL) error {
			if u.Path == "/echo" {
				return denied
			}
			return nil
		}
	}); err == nil || err.Error() != denied.Error() {
		t.Errorf("a redirect that is not allowed: %v", err)
	}
	var reached netip.Addr
	if _, err := do("/echo", func(r *call.FetchRequest) {
		r.Reach = func(_, _ string, to netip.Addr) error { reached = to; return denied }
	}); err == nil || err.Error() != denied.Error() || !reached.IsLoopback() {
		t.Errorf("an address that must not be reached: %v, %v", err, reached)
	}
	if a, err := do("/echo", func(r *call.FetchRequest) { r.Proxy, r.Direct = "http://127.0.0.1:1", true }); err != nil || a.Status != 418 {
		t.Errorf("a request that must be direct: %v", err)
	}
	if _, err := do("/echo", func(r *call.FetchRequest) { r.Proxy = "http://127.0.0.1:1" }); err == nil {
		t.Error("a request passes by its proxy")
	}
	if _, err := do("/circle?token=hunter22", nil); err == nil || strings.Contains(err.Error(), "hunter22") {
		t.Errorf("a circle: %v", err)
	}
	if _, err := do("/large", nil); err == nil || !strings.Contains(err.Error(), "larger than 10 MB") {
		t.Errorf("a large answer: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := netclient.Fetch(ctx, call.FetchRequest{Method: "GET", URL: s.URL + "/silent?token=hunter22", Allow: all, Reach: everywhere}); err == nil || strings.Contains(err.Error(), "hunter22") {
		t.Errorf("a silent server: %v", err)
	}
	if _, err := netclient.Fetch(t.Context(), call.FetchRequest{Method: "BAD METHOD", URL: s.URL, Allow: all, Reach: everywhere}); err == nil {
		t.Error("a method with a blank is sent")
	}
}
