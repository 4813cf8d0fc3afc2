package tool

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/test/diagnostictest"
)

var update = flag.Bool("update", false, "write golden files")

// TestBadFiles compares the diagnostics of every file in testdata/bad with those that testdata/bad.txt lists, and draws those
// that have a picture.
func TestBadFiles(t *testing.T) {
	diagnostictest.Files(t, "testdata/bad", "*.yaml", 100, *update, decodeBad)
	diagnostictest.Pictures(t, "testdata/bad", ".yaml", 7, *update, decodeBad)
}

func decodeBad(file string, src []byte) Diagnostics {
	_, found := DecodeDocument(filepath.Base(file), src)
	return found
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
