//go:build unix

package library

import (
	"os"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestClosedFolder: a folder of tools that nobody may read is reported, and is not an empty
// one: its tools are in no list, and none of another scope runs in place of one.
func TestClosedFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	for _, name := range []string{"repo/.flowrun", "repo/.flowrun/tools"} {
		h := newMachine(t)
		h.write("repo/.flowrun/tools/a.yaml", "name: a\ndescription: d\nrun: 'true'\n")
		h.write("home/.config/flowrun/tools/a.yaml", "name: a\ndescription: d\nrun: 'true'\n")
		if err := os.Chmod(h.path(name), 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(h.path(name), 0o755) })
		l := h.library()
		if found := l.Unreadable(tool.ScopeLocal); len(found) != 1 || !strings.Contains(found[0].Message, "permission denied") {
			t.Errorf("%s: %v", name, found)
		}
		if found := l.Unreadable(tool.ScopeUser); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		if _, _, err := l.Lookup("a", nil); err == nil || !strings.Contains(err.Error(), "cannot read the folder of local tools") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLinkToNowhere: a definition whose target is gone is a broken tool, not none.
func TestLinkToNowhere(t *testing.T) {
	h := newMachine(t)
	h.write("repo/.flowrun/tools/x.yaml", "name: x\n")
	link := h.path("repo/.flowrun/tools/gone.yaml")
	if err := os.Symlink("/nowhere/gone.yaml", link); err != nil {
		t.Fatal(err)
	}
	list := h.library().List()
	if len(list) != 2 || list[0].Name != "gone" || !strings.Contains(list[0].Broken(), "no such file or directory") {
		t.Errorf("listed: %v", list)
	}
	if _, _, err := h.library().Lookup("gone", nil); err == nil || !strings.Contains(err.Error(), "cannot read the definition") {
		t.Errorf("looked up: %v", err)
	}
}
