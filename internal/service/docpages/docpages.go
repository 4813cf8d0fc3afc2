// Package docpages contains the documentation, compressed: as Markdown for flowrun docs, and as HTML for the service to
// show at /docs. The HTML is made when flowrun is developed, by package docsite: a Markdown library in the program would
// cost every command half a megabyte before it starts.
package docpages

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"io/fs"
	"sync"
)

//go:generate go run ../docsite/site pages.zip
//go:embed pages.zip
var archive []byte

// Site returns the pages as HTML, such as guides/use-secrets.html, with style.css and search.js. README.html lists them
// all. Safe for concurrent use.
func Site() fs.FS { return folder("site") }

// Markdown returns the pages as they are written, such as guides/use-secrets.md. Safe for concurrent use.
func Markdown() fs.FS { return folder("markdown") }

// Linked returns files to which the pages link and that are not pages, such as examples/db-dump.yaml and alerts.yaml. Safe for
// concurrent use.
func Linked() fs.FS { return folder("linked") }

func folder(name string) fs.FS {
	sub, err := fs.Sub(files(), name)
	if err != nil {
		panic(err) // the name is invalid
	}
	return sub
}

var files = sync.OnceValue(func() fs.FS {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic("docpages: pages.zip was not made by go generate: " + err.Error())
	}
	return r
})
