package tool

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/test/diagnostictest"
)

// FuzzDecode: whatever the bytes, Decode returns a definition and diagnostics
// with places in the file, in bounded time, and the pictures can be drawn.
// Every text of the definition finds its places.
func FuzzDecode(f *testing.F) {
	for _, pattern := range []string{"../*/testdata/bad/*.yaml", "testdata/spec001/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			f.Add(readFile(f, file))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		began := time.Now()
		def, found := DecodeDocument("fuzz.yaml", src)
		if took := time.Since(began); took > time.Minute { // a hang, not a measure
			t.Errorf("took %v for %d bytes", took, len(src))
		}
		diagnostictest.Check(t, src, found)
		diagnostic.Render(&bytes.Buffer{}, found, func(string) []byte { return src }, diagnostic.Style{Color: true})
		lines := len(diagnostic.NewSource("", src).Lines)
		for _, s := range def.Steps {
			for off := range min(len(s.Command().S), 100) {
				if at := s.Command().At(off); at.Line < 1 || at.Line > lines+1 {
					t.Errorf("offset %d of %q is at %v of %d lines", off, s.Command().S, at, lines)
				}
			}
		}
	})
}
