// Package ui serves the web pages of the service: one HTML document, one script, one style
// sheet and an icon, which are embedded in the program.
//
// # The model
//
// The pages are built from src (TypeScript with Preact) and npm (libraries) into dist by
// internal/service/ui/bundle. The browser gets the same HTML document for the address of every page;
// the script shows the page that the address names. Everything that a page shows comes from the
// HTTP API of the service (internal/service/web), which also decides what the reader may see and do.
//
// The pages contain no data, no inline script and no inline style, so that the strictest content
// security policy holds: text of definitions, values and logs can never become code.
package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:generate go run ./bundle
//go:embed dist
var dist embed.FS

// Policy is the content security policy of the pages.
const Policy = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"

// Patterns returns the patterns of the mux under which Handler serves.
func Patterns() []string {
	return []string{"GET /{$}", "GET /runs", "GET /runs/", "GET /tools", "GET /tools/", "GET /schedules", "GET /waiting", "GET /locks", "GET /edit/", "GET /assets/"}
}

// Handler serves the pages, and their files under /assets/. Safe for concurrent use.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, isAsset := strings.CutPrefix(r.URL.Path, "/assets/")
		if !isAsset {
			name = "index.html"
		}
		f, found := files()[name]
		if !found {
			http.NotFound(w, r)
			return
		}
		f.serve(w, r, http.StatusOK)
	})
}

// NotFound serves the page for an address that has none. Safe for concurrent use.
func NotFound() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { files()["index.html"].serve(w, r, http.StatusNotFound) })
}

// file is one embedded file.
type file struct {
	media            string
	plain, gzipped   []byte
	etag, gzippedTag string
}

var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
}

// files returns the embedded files by name. They are compressed when the first is requested.
var files = sync.OnceValue(func() map[string]file {
	list, err := dist.ReadDir("dist")
	if err != nil {
		panic(err) // they are part of the program
	}
	all := map[string]file{}
	for _, e := range list {
		plain, err := dist.ReadFile("dist/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(plain)
		tag := hex.EncodeToString(sum[:12])
		all[e.Name()] = file{media: mediaTypes[path.Ext(e.Name())], plain: plain, gzipped: compressed(plain), etag: `"` + tag + `"`, gzippedTag: `"` + tag + `-gzip"`}
	}
	return all
})

func compressed(plain []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(plain) // to memory: never fails
	_ = z.Close()
	return b.Bytes()
}

func (f file) serve(w http.ResponseWriter, r *http.Request, status int) {
	h := w.Header()
	body, tag := f.plain, f.etag
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body, tag = f.gzipped, f.gzippedTag
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", f.media)
	h.Set("Content-Security-Policy", Policy)
	h.Set("Cache-Control", "no-cache") // asks each time, and gets the file only if it changed
	if f.media == mediaTypes[".html"] {
		h.Set("Cache-Control", "no-store") // after signing out, Back must not show the page as it was
	}
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag && status == http.StatusOK {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
