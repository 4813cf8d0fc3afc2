//go:build unix

package editedfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/os/editedfile"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// TestProjectFile checks that nothing outside a project is read or changed, whatever its settings
// file is.
func TestProjectFile(t *testing.T) {
	for name, test := range map[string]struct {
		make func(outside, project string) error
		want string
	}{
		"link":   {func(o, p string) error { return os.Symlink(filepath.Join(o, "mcp.json"), filepath.Join(p, "mcp.json")) }, "is a link"},
		"inside": {func(o, p string) error { return os.Symlink("other.json", filepath.Join(p, "mcp.json")) }, "is a link"},
		"none":   {func(o, p string) error { return os.Symlink("nothing", filepath.Join(p, "mcp.json")) }, "is a link"},
		"folder": {func(o, p string) error { return errFirst(os.Remove(p), os.Symlink(o, p)) }, "is a link"},
		"pipe":   {func(o, p string) error { return syscall.Mkfifo(filepath.Join(p, "mcp.json"), 0o600) }, "not a regular file"},
		"a dir":  {func(o, p string) error { return os.Mkdir(filepath.Join(p, "mcp.json"), 0o700) }, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			outside, project := t.TempDir(), t.TempDir()
			write(t, filepath.Join(outside, "mcp.json"), "{}")
			folder := filepath.Join(project, ".cursor")
			if err := os.Mkdir(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := test.make(outside, folder); err != nil {
				t.Fatal(err)
			}
			f, err := editedfile.ReadProject(project, filepath.Join(folder, "mcp.json"))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, %v", f, err)
			}
		})
	}
}

func errFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestUserFile checks that a link to settings stays a link, and that the backup is beside the
// settings and as private as they are.
func TestUserFile(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	real, link := filepath.Join(elsewhere, "claude.json"), filepath.Join(home, ".claude.json")
	write(t, real, "{}")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	f, err := editedfile.ReadUser(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := errFirst(f.Keep(), f.Write([]byte("new"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{real: "new", real + ".bak": "{}", link: "new"} {
		text, err := os.ReadFile(path)
		info, _ := os.Stat(path)
		if err != nil || string(text) != want || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %q %v %v", path, text, info, err)
		}
	}
	if _, err := os.Readlink(link); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(link + ".bak"); err == nil {
		t.Error("a copy lies beside the link")
	}
}
