package npm

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRegistryRange: only versions of the registry are fetched. Everything else is code that no version identifies.
func TestRegistryRange(t *testing.T) {
	for text, want := range map[string]bool{
		"1.2.3": true, "^4.17.21": true, "~1.2": true, ">=1.0.0 <2.0.0": true, "1.x || 2.*": true, "1.0.0 - 2.0.0": true, "1.0.0-beta.1+5": true, "latest": true, "*": true,
		"": false, "file:../x": false, "../x": false, "/etc": false, "github:o/r": false, "o/r": false, "git+ssh://git@example.com/r.git": false,
		"https://example.com/x.tgz": false, "npm:other@1.0.0": false, "1.0.0\nfile:x": false, "workspace:*": false, "1.0.0#x": false,
	} {
		if got := registryRange().MatchString(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestMoveFolder: the folder of packages is always a complete one.
func TestMoveFolder(t *testing.T) {
	for name, c := range map[string]struct {
		there string // a file in the folder that exists already
		want  string // a file in it afterwards
	}{
		"new":                        {"", "node_modules/mine"},
		"another process was faster": {"node_modules/theirs", "node_modules/theirs"},
		"remains of a crash":         {"package.json", "node_modules/mine"},
	} {
		root := t.TempDir()
		write := func(path string) {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		work, folder := filepath.Join(root, ".new-1"), filepath.Join(root, "tool-1")
		write(filepath.Join(work, "node_modules", "mine"))
		if c.there != "" {
			write(filepath.Join(folder, c.there))
		}
		if err := moveFolder(work, folder); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		files, err := filepath.Glob(filepath.Join(folder, "*", "*"))
		if err != nil || len(files) != 1 || files[0] != filepath.Join(folder, c.want) {
			t.Errorf("%s: %q, %v", name, files, err)
		}
	}
}

// TestUsers: a folder of packages lists the tools that use it, each once, and no line that is two.
func TestUsers(t *testing.T) {
	folder := t.TempDir()
	for _, file := range []string{"/a/x.tool.js", "/b/y.tool.js", "/a/x.tool.js", "/c/two\n/lines.tool.js"} {
		if err := recordUser(folder, file); err != nil {
			t.Fatal(err)
		}
	}
	if got := recordedUsers(folder); len(got) != 2 || got[0] != "/a/x.tool.js" || got[1] != "/b/y.tool.js" {
		t.Errorf("%q", got)
	}
}
