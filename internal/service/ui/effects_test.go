package ui_test

import (
	"io/fs"
	"os"
	"regexp"
	"testing"
)

// TestEffects: what a part of the page does after it was drawn, it does at once. Preact's useEffect waits for
// the next frame: by then an answer or a click can have changed what the effect reads while the page still
// shows what was before, or the page has been left.
func TestEffects(t *testing.T) {
	late := regexp.MustCompile(`\b(useEffect|useSignalEffect)\b`)
	files := os.DirFS("src")
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if name := late.Find(text); name != nil {
			t.Errorf("%s uses %s: want useLayoutEffect", path, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
