package main

import (
	"bytes"
	"compress/gzip"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFresh compares the committed pages with a new build.
func TestFresh(t *testing.T) {
	files, err := build("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		committed, err := os.ReadFile(filepath.Join("..", "dist", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(committed, text) {
			t.Errorf("dist/%s is out of date: run go generate ./internal/service/ui", name)
		}
	}
	if names := slices.Sorted(maps.Keys(files)); !slices.Equal(names, []string{"app.css", "app.js", "chunk.js", "hub.js", "more.js"}) {
		t.Errorf("the build has the files %v", names)
	}
}

// The limits of the files, compressed, in bytes: of those that every visit loads, and of all together.
const (
	maxFirst = 62_000
	maxAll   = 80_000
)

// later are the files that the first page of a visit does not load.
var later = []string{"more.js", "icon-waiting.svg"}

// TestSize keeps the pages small: they are loaded over slow connections too.
func TestSize(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "dist", "*"))
	if err != nil {
		t.Fatal(err)
	}
	first, all := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if _, err := z.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes compressed", filepath.Base(file), b.Len())
		all += b.Len()
		if !slices.Contains(later, filepath.Base(file)) {
			first += b.Len()
		}
	}
	t.Logf("a first visit: %d bytes, all: %d", first, all)
	if first > maxFirst || all > maxAll {
		t.Errorf("a first visit loads %d bytes compressed, all files have %d; the limits are %d and %d", first, all, maxFirst, maxAll)
	}
}
