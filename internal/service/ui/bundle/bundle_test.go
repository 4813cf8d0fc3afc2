package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
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
	if len(files) != 2 {
		t.Errorf("the build has %d files, want app.js and app.css", len(files))
	}
}

// maxSize is the limit of all files of the pages together, compressed, in bytes.
const maxSize = 71_500

// TestSize keeps the pages small: they are loaded over slow connections too.
func TestSize(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "dist", "*"))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
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
		total += b.Len()
	}
	if total > maxSize {
		t.Errorf("the pages have %d bytes compressed, more than %d", total, maxSize)
	}
}
