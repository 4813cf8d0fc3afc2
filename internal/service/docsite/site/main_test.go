package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/service/docpages"
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

// TestDocPages: what flowrun docs and the service show is what the pages say now.
func TestDocPages(t *testing.T) {
	files, err := packed()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for prefix, folder := range map[string]fs.FS{"site/": docpages.Site(), "markdown/": docpages.Markdown(), "linked/": docpages.Linked()} {
		err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			n++
			b, err := fs.ReadFile(folder, name)
			if !bytes.Equal(b, files[prefix+name]) {
				t.Errorf("%s is not fresh; run go generate ./internal/service/docpages", name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if n != len(files) {
		t.Errorf("%d files, want %d; run go generate ./internal/service/docpages", n, len(files))
	}
}
