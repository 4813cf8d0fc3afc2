//go:build unix

package library

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestNotRegular: what is not a regular file is refused, and never waited for.
func TestNotRegular(t *testing.T) {
	h := newMachine(t)
	pipe := h.path("pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{pipe: "a pipe", h.root: "a folder", "/dev/zero": "a device"} {
		if _, _, err := New(Config{}).Load(path); err == nil || !strings.Contains(err.Error(), want+", not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestListUnopenable: a file that nobody may read is a tool that is broken; a link to
// nowhere, as editors leave beside an open file, is none.
func TestListUnopenable(t *testing.T) {
	h := newMachine(t)
	closed := h.write("repo/.flowrun/tools/closed.yaml", "name: other\n")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nobody@nowhere:1", h.path("repo/.flowrun/tools/.#full.yaml")); err != nil {
		t.Fatal(err)
	}
	list := h.library().List()
	if len(list) != 1 || list[0].Path != closed {
		t.Fatalf("listed: %v", list)
	}
	if os.Getuid() != 0 && (list[0].Name != "closed" || !strings.Contains(list[0].Broken(), "error[unreadable]: cannot read the definition")) {
		t.Errorf("%s is broken for %q", list[0].Name, list[0].Broken())
	}
}
