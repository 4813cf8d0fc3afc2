package decode

import (
	"flag"
	"os"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/test/diagnostictest"
)

var update = flag.Bool("update", false, "write golden files")

// TestBadPages compares the diagnostics of every page in testdata/badpages with those that
// testdata/badpages.txt lists, and draws those that have a picture.
func TestBadPages(t *testing.T) {
	diagnostictest.Files(t, "testdata/badpages", "*.md", 30, *update, decodePage)
	diagnostictest.Pictures(t, "testdata/badpages", ".md", 1, *update, decodePage)
}

// decodePage returns the diagnostics of a page. A tool on a page is named for its file, so all pages have one name.
func decodePage(_ string, src []byte) diagnostic.Diagnostics {
	_, found := File("demo.md", src)
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
