package enginetest

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// TestExpectedFormats: the example that a refused call of any tool here shows is a valid call.
func TestExpectedFormats(t *testing.T) {
	t.Parallel()
	js := hooks.New(hooks.Config{})
	t.Cleanup(func() { js.Close() })
	lib := library.New(library.Config{WorkingDirectory: t.TempDir(), Home: t.TempDir()})
	lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{Runtime: js}))
	tools := registry.New(lib, registry.Options{Files: true})
	shown := 0
	for _, pattern := range []string{"examples/*", upstream + "/*/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			full, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			tl, err := tools.Get(full)
			if err != nil {
				continue // it is not a tool, or an invalid one
			}
			var refused, again *registry.Refusal
			_, err = tl.Parse(`no arguments`)
			if !errors.As(err, &refused) || refused.ExpectedFormat == nil {
				continue // it accepts a text, or all examples are too large
			}
			shown++
			_, err = tl.Parse(string(refused.ExpectedFormat))
			if errors.As(err, &again) && !missesFile(again) || !json.Valid(refused.ExpectedFormat) {
				t.Errorf("%s: the example %s is refused: %v", file, refused.ExpectedFormat, again)
			}
		}
	}
	if shown < 60 {
		t.Errorf("%d tools show an example", shown)
	}
}

// missesFile reports whether a refusal is about a file that the tool needs.
func missesFile(r *registry.Refusal) bool { return strings.Contains(r.Error(), "does not exist") }
