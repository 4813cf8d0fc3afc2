package ui_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/service/ui"
)

func TestHandler(t *testing.T) {
	mux := http.NewServeMux()
	for _, p := range ui.Patterns() {
		mux.Handle(p, ui.Handler())
	}
	get := func(path string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", path, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w
	}
	for _, tt := range []struct {
		path, media, text string
		status            int
	}{
		{"/", "text/html; charset=utf-8", `<div id="app">`, 200},
		{"/runs", "text/html; charset=utf-8", `<div id="app">`, 200},
		{"/runs/1m80yahhymcge/logs", "text/html; charset=utf-8", `<div id="app">`, 200},
		{"/edit/hello", "text/html; charset=utf-8", `<div id="app">`, 200},
		{"/assets/app.js", "text/javascript; charset=utf-8", "addEventListener", 200},
		{"/assets/app.css", "text/css; charset=utf-8", "--accent", 200},
		{"/assets/icon.svg", "image/svg+xml", "<svg", 200},
		{"/assets/missing.js", "", "", 404},
		{"/assets/../ui.go", "", "", 307},
		{"/elsewhere", "", "", 404},
	} {
		w := get(tt.path)
		if w.Code != tt.status {
			t.Errorf("GET %s: status %d, want %d", tt.path, w.Code, tt.status)
			continue
		}
		if tt.status != 200 {
			continue
		}
		if got := w.Header().Get("Content-Type"); got != tt.media {
			t.Errorf("GET %s: media type %q, want %q", tt.path, got, tt.media)
		}
		if got := w.Header().Get("Content-Security-Policy"); got != ui.Policy {
			t.Errorf("GET %s: content security policy %q", tt.path, got)
		}
		if !strings.Contains(w.Body.String(), tt.text) {
			t.Errorf("GET %s: no %q in the answer", tt.path, tt.text)
		}
	}
	document := get("/").Body.String()
	_, version, _ := strings.Cut(document, `src="/assets/`)
	version, _, _ = strings.Cut(version, "/")
	if w := get("/assets/" + version + "/more.js"); w.Code != 200 || w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
		t.Errorf("a file of this version: status %d, %v", w.Code, w.Header())
	}
	if w := get("/assets/00112233/more.js"); w.Code != 404 {
		t.Errorf("a file of another version: status %d", w.Code)
	}
	if strings.Contains(strings.ReplaceAll(document, "/assets/"+version+"/", ""), "/assets/") {
		t.Errorf("the document refers to a file without its version: %s", document)
	}
	packed := get("/assets/app.js", "Accept-Encoding", "gzip")
	if packed.Header().Get("Content-Encoding") != "gzip" {
		t.Error("the script is not compressed for a browser that accepts it")
	}
	if w := get("/assets/app.js", "Accept-Encoding", "gzip", "If-None-Match", packed.Header().Get("ETag")); w.Code != 304 || w.Body.Len() > 0 {
		t.Errorf("an unchanged script: status %d, %d bytes", w.Code, w.Body.Len())
	}
}
