package author

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestWriteImported: all files are written or, if one of them is there, none.
func TestWriteImported(t *testing.T) {
	for name, c := range map[string]struct {
		there string
		force bool
		want  map[string]string // files afterwards
		fails bool
	}{
		"new folder":   {"", false, map[string]string{"a.yaml": "A", "b.yaml": "B"}, false},
		"one is there": {"b.yaml", false, map[string]string{"b.yaml": "old"}, true},
		"replaced":     {"b.yaml", true, map[string]string{"a.yaml": "A", "b.yaml": "B"}, false},
		"others stay":  {"c.yaml", false, map[string]string{"a.yaml": "A", "b.yaml": "B", "c.yaml": "old"}, false},
	} {
		dir := filepath.Join(t.TempDir(), "x", "tools")
		if c.there != "" {
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, c.there), []byte("old"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		list := []imported{{Name: "a", Definition: "A"}, {Name: "b", Definition: "B"}}
		err := writeImported(list, importOptions{to: dir, force: c.force})
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		files, _ := os.ReadDir(dir)
		if len(files) != len(c.want) {
			t.Errorf("%s: %d files, want %d", name, len(files), len(c.want))
		}
		for file, want := range c.want {
			if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(text) != want {
				t.Errorf("%s: %s has %q, %v", name, file, text, err)
			}
		}
		if !c.fails && list[1].File != filepath.Join(dir, "b.yaml") {
			t.Errorf("%s: reported as %q", name, list[1].File)
		}
	}
}

// TestFirstProblem: why a definition was left out is its first error, not a warning, and without a place in a file that
// nobody has.
func TestFirstProblem(t *testing.T) {
	for want, err := range map[string]error{
		"second": tool.Diagnostics{{Severity: tool.Warning, Message: "first"}, {Severity: tool.Error, Message: "second", Pos: tool.Pos{File: "x.yaml", Line: 3}}, {Severity: tool.Error, Message: "third"}},
		"other":  errors.New("other"),
	} {
		if got := firstProblem(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
