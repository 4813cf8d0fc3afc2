package programfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// extension is what the file of a program ends in.
func extension() string {
	if runtime.GOOS == "windows" {
		return ".bat"
	}
	return ""
}

func TestSearch(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for name, mode := range map[string]fs.FileMode{"a/tool": 0o755, "b/tool": 0o755, "b/other": 0o755, "here": 0o755, "closed/plain": 0o644} {
		file := filepath.Join(root, name+extension())
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	for _, c := range []struct {
		name    string
		folders []string
		want    string
	}{
		{"tool", []string{a, b}, filepath.Join(a, "tool")},
		{"tool", []string{filepath.Join(root, "missing"), b, a}, filepath.Join(b, "tool")},
		{"other", []string{a, b}, filepath.Join(b, "other")},
		{"here", []string{a, ""}, "." + string(filepath.Separator) + "here"},
		{"here", []string{"."}, "." + string(filepath.Separator) + "here"},
		{"other", []string{"b"}, filepath.Join("b", "other")},
	} {
		if got, err := Search(c.name, c.folders); err != nil || got != c.want+extension() {
			t.Errorf("%s in %q: %q, %v", c.name, c.folders, got, err)
		}
	}
	if _, err := Search("none", []string{a, b}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a program that no folder has: %v", err)
	}
	if runtime.GOOS == "windows" { // every file may be executed there
		return
	}
	var denied *fs.PathError
	if _, err := Search("plain", []string{a, filepath.Join(root, "closed")}); !errors.As(err, &denied) || denied.Path != filepath.Join(root, "closed", "plain") {
		t.Errorf("a file that may not be executed: %v", err)
	}
}

func TestIsPath(t *testing.T) {
	for name, want := range map[string]bool{"git": false, "./git": true, "/bin/git": true, "a/b": true, `a\b`: runtime.GOOS == "windows", "": false} {
		if got := IsPath(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	if got, err := Find("./tool", dir); err != nil || got != filepath.Join(dir, "tool") {
		t.Errorf("%q, %v", got, err)
	}
	t.Setenv("PATH", dir)
	if err := os.WriteFile(filepath.Join(dir, "own"+extension()), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := Find("own", ""); err != nil || got != filepath.Join(dir, "own"+extension()) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Find("flowrun-has-no-such-program", dir); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}
