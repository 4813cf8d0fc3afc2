package keytable

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/test/diagnostictest"
)

var update = flag.Bool("update", false, "write golden files")

// TestBadFiles compares the diagnostics of every file in testdata/bad, which is wrong for any table of keys, with those
// that testdata/bad.txt lists.
func TestBadFiles(t *testing.T) {
	diagnostictest.Files(t, "testdata/bad", "*.yaml", 40, *update, func(file string, src []byte) diagnostic.Diagnostics {
		_, found := DecodeData(filepath.Base(file), src)
		return found
	})
}
