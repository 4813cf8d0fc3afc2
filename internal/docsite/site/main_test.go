package main

import (
	"os"
	"path/filepath"
	"testing"
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
