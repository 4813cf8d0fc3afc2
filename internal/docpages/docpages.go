// Package docpages contains the documentation as HTML, for the service to show at /docs. The pages are made when
// flowrun is developed, by package docsite: a Markdown library in the program would cost every command half a
// megabyte before it starts.
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

// Files returns the pages, such as guides/use-secrets.html, with style.css and search.js. README.html lists them all.
// Safe for concurrent use.
func Files() fs.FS { return files() }

var files = sync.OnceValue(func() fs.FS {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic("docpages: pages.zip was not made by go generate: " + err.Error())
	}
	return r
})
