package projectfolder_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/flowrun/flowrun/internal/os/projectfolder"
)

// TestNearest: several names are found as one after the other, each at its own level and not above the root of the
// repository.
func TestNearest(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"above/.cycod/tools", "above/repo/.git", "above/repo/.flowrun", "above/repo/a/.cycod/tools", "above/repo/a/b/c"} {
		if err := os.MkdirAll(filepath.Join(top, filepath.FromSlash(dir)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tools := filepath.Join(".cycod", "tools")
	for dir, want := range map[string][]string{
		"above/repo/a/b/c": {"above/repo/.flowrun", "above/repo/a/.cycod/tools"},
		"above/repo/a":     {"above/repo/.flowrun", "above/repo/a/.cycod/tools"},
		"above/repo":       {"above/repo/.flowrun", ""},
	} {
		for i := range want {
			if want[i] != "" {
				want[i] = filepath.Join(top, filepath.FromSlash(want[i]))
			}
		}
		dir = filepath.Join(top, filepath.FromSlash(dir))
		if got := projectfolder.Nearest(dir, ".flowrun", tools); !slices.Equal(got, want) {
			t.Errorf("in %s: %q, want %q", dir, got, want)
		}
		for i, name := range []string{".flowrun", tools} {
			if got := projectfolder.Nearest(dir, name); got[0] != want[i] {
				t.Errorf("%s alone in %s: %q, want %q", name, dir, got[0], want[i])
			}
		}
	}
}

// TestOf: a folder .flowrun counts before tools in .cycod, and those of the home directory are of no project.
func TestOf(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{".git", ".cycod/tools", "both/.flowrun", "both/in/.cycod/tools", "only/.cycod/tools"} {
		if err := os.MkdirAll(filepath.Join(top, filepath.FromSlash(dir)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ dir, root, tools string }{
		{"both/in", "both", ""},
		{"only", "", "only"},
		{".cycod", "", ""}, // the home directory
	} {
		path := func(dir string) string {
			if dir == "" {
				return ""
			}
			return filepath.Join(top, filepath.FromSlash(dir))
		}
		if root, tools := projectfolder.Of(path(c.dir), top); root != path(c.root) || tools != path(c.tools) {
			t.Errorf("%s: project %q, of tools %q", c.dir, root, tools)
		}
	}
}
