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
// The document refers to its files with the version of the build, /assets/VERSION/app.js, and they refer to each
// other from there: a browser may keep them for ever, and never mixes the files of two versions.
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
	"fmt"
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
	return []string{"GET /{$}", "GET /runs", "GET /runs/", "GET /tools", "GET /tools/", "GET /schedules", "GET /waiting", "GET /locks", "GET /audit", "GET /edit/", "GET /assets/"}
}

// Handler serves the pages, and their files under /assets/. Safe for concurrent use.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := built()
		name, isAsset := strings.CutPrefix(r.URL.Path, "/assets/")
		if !isAsset {
			name = "index.html"
		}
		name, versioned := strings.CutPrefix(name, b.version+"/")
		f, found := b.files[name]
		if !found {
			http.NotFound(w, r)
			return
		}
		cache := "no-cache" // asks each time, and gets the file only if it changed
		switch {
		case versioned:
			cache = "public, max-age=31536000, immutable"
		case name == "index.html":
			cache = notStored
		}
		f.serve(w, r, http.StatusOK, cache)
	})
}

// notStored is for the document: after signing out, Back must not show the page as it was.
const notStored = "no-store"

// NotFound serves the page for an address that has none. Safe for concurrent use.
func NotFound() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		built().files["index.html"].serve(w, r, http.StatusNotFound, notStored)
	})
}

// build is what was embedded.
type build struct {
	version string // a hash of all files
	files   map[string]file
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

// built returns the embedded files. They are compressed when the first is requested.
var built = sync.OnceValue(func() build {
	list, err := dist.ReadDir("dist")
	if err != nil {
		panic(err) // they are part of the program
	}
	texts, sum := map[string][]byte{}, sha256.New()
	for _, e := range list {
		text, err := dist.ReadFile("dist/" + e.Name())
		if err != nil {
			panic(err)
		}
		texts[e.Name()] = text
		_, _ = fmt.Fprintf(sum, "%s %d %s", e.Name(), len(text), text) // to memory: never fails
	}
	b := build{version: hex.EncodeToString(sum.Sum(nil)[:8]), files: map[string]file{}}
	texts["index.html"] = bytes.ReplaceAll(texts["index.html"], []byte(`"/assets/`), []byte(`"/assets/`+b.version+`/`))
	for name, text := range texts {
		b.files[name] = newFile(mediaTypes[path.Ext(name)], text)
	}
	return b
})

func newFile(media string, plain []byte) file {
	sum := sha256.Sum256(plain)
	tag := hex.EncodeToString(sum[:12])
	return file{media: media, plain: plain, gzipped: compressed(plain), etag: `"` + tag + `"`, gzippedTag: `"` + tag + `-gzip"`}
}

func compressed(plain []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(plain) // to memory: never fails
	_ = z.Close()
	return b.Bytes()
}

func (f file) serve(w http.ResponseWriter, r *http.Request, status int, cache string) {
	h := w.Header()
	body, tag := f.plain, f.etag
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body, tag = f.gzipped, f.gzippedTag
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", f.media)
	h.Set("Content-Security-Policy", Policy)
	h.Set("Cache-Control", cache)
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag && status == http.StatusOK {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
