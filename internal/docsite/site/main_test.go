package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/docpages"
)

// TestSite writes the site. The links of the pages are checked by TestPages of docsite.
func TestSite(t *testing.T) {
	folder := t.TempDir()
	if err := write(folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "README.html", "style.css", "search.js", "guides/use-secrets.html", "tutorial/1-first-tool.html"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := write(filepath.Join(folder, "index.html")); err == nil {
		t.Error("a file was taken for a folder")
	}
}

// TestDocPages: what the service shows at /docs is what the pages say now.
func TestDocPages(t *testing.T) {
	files, err := render()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = fs.WalkDir(docpages.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		b, err := fs.ReadFile(docpages.Files(), name)
		if !bytes.Equal(b, files[name]) {
			t.Errorf("%s is not fresh; run go generate ./internal/docpages", name)
		}
		return err
	})
	if err != nil || n != len(files) {
		t.Errorf("%d files, want %d (%v); run go generate ./internal/docpages", n, len(files), err)
	}
}
