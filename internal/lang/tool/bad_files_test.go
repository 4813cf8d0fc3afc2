package tool

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/test/diagnostictest"
)

var update = flag.Bool("update", false, "write golden files")

// TestBadFiles compares the diagnostics of every file in testdata/bad with those that testdata/bad.txt lists.
func TestBadFiles(t *testing.T) {
	diagnostictest.Files(t, "testdata/bad", "*.yaml", 100, *update, decodeBad)
}

// TestBadPages is TestBadFiles for Markdown.
func TestBadPages(t *testing.T) {
	diagnostictest.Files(t, "testdata/badpages", "*.md", 30, *update, decodeBad)
}

// decodeBad returns the diagnostics of a bad file. A tool on a page is named for its file, so all pages have one name.
func decodeBad(file string, src []byte) Diagnostics {
	name := filepath.Base(file)
	if filepath.Ext(name) == ".md" {
		name = "demo.md"
	}
	_, found := Decode(name, src)
	return found
}

// TestPictures draws the diagnostics of the bad files that have a picture beside them: together they show each form
// of a line, a caret and a note.
func TestPictures(t *testing.T) {
	pictures, err := filepath.Glob("testdata/bad*/*.golden")
	if err != nil || len(pictures) < 8 {
		t.Fatalf("found %d pictures: %v", len(pictures), err)
	}
	for _, golden := range pictures {
		file := strings.TrimSuffix(golden, ".golden") + ".yaml"
		if filepath.Base(filepath.Dir(golden)) == "badpages" {
			file = strings.TrimSuffix(golden, ".golden") + ".md"
		}
		src := readFile(t, file)
		var picture bytes.Buffer
		Render(&picture, decodeBad(file, src), func(string) []byte { return src }, Style{})
		if *update {
			writeFile(t, golden, picture.Bytes())
		}
		if diff := cmp.Diff(string(readFile(t, golden)), picture.String()); diff != "" {
			t.Errorf("%s changed (-want +got):\n%s", golden, diff)
		}
	}
}

func writeFile(t testing.TB, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
