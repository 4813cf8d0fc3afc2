//go:build unix

package ownership

import (
	"os"
	"path/filepath"
	"testing"
)

// Files of this user are checked by their mode. Only root can test other owners.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		about         string
		folder, tools os.FileMode
		file          os.FileMode
		uid, gid      int // of all of it; -1: this user's
		counts        bool
	}{
		{"private", 0o700, 0o700, 0o600, -1, -1, true},
		{"readable", 0o755, 0o755, 0o644, -1, -1, true},
		{"folder for everybody", 0o777, 0o755, 0o644, -1, -1, false},
		{"sticky folder for everybody", 0o777 | os.ModeSticky, 0o755, 0o644, -1, -1, false},
		{"tools for everybody", 0o755, 0o777, 0o644, -1, -1, false},
		{"file for everybody", 0o755, 0o755, 0o666, -1, -1, false},
		{"file for a group", 0o755, 0o755, 0o664, -1, 12345, false},
		{"another user's", 0o755, 0o755, 0o644, 65534, 65534, false},
	} {
		t.Run(c.about, func(t *testing.T) {
			if c.gid >= 0 && os.Getuid() != 0 {
				t.Skip("only root can give files away; run the tests as root")
			}
			Use(Guard{})
			dir := t.TempDir()
			flowrun := filepath.Join(dir, ".flowrun")
			tools := filepath.Join(flowrun, "tools")
			file := filepath.Join(tools, "a.yaml")
			must(t, os.MkdirAll(tools, 0o755))
			must(t, os.WriteFile(file, nil, 0o600))
			for path, mode := range map[string]os.FileMode{flowrun: c.folder, tools: c.tools, file: c.file} {
				must(t, os.Chown(path, c.uid, c.gid))
				must(t, os.Chmod(path, mode))
			}
			if got := Counts(file); got != c.counts {
				t.Errorf("%v: %v", got, Ignored())
			}
			if !c.counts && len(Ignored()) != 1 {
				t.Errorf("passed over: %q", Ignored())
			}
			Use(Guard{Trusts: func(folder string, uid int) bool { return folder == dir && (c.uid < 0 || uid == c.uid) }})
			if !Counts(file) {
				t.Errorf("it does not count although it is trusted: %q", Ignored())
			}
		})
	}
	Use(Guard{})
	if !Counts(filepath.Join(t.TempDir(), "nothing")) {
		t.Error("what is not there does not count")
	}
}

// Systems with an umask of 002 give every user a private group.
func TestPrivateGroup(t *testing.T) {
	for _, c := range []struct {
		uid, gid int
		want     bool
	}{{1000, 1000, true}, {1000, 100, false}, {0, 0, false}, {1000, 0, false}} {
		if c.uid == os.Geteuid() && c.gid == os.Getegid() && c.uid != 0 {
			continue // names decide
		}
		if got := isPrivateGroup(c.uid, c.gid); got != c.want {
			t.Errorf("%d:%d: %v", c.uid, c.gid, got)
		}
	}
}

// The state directory must belong to this user alone.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	if err := Check(dir); err != nil {
		t.Error(err)
	}
	must(t, os.Chmod(dir, 0o777|os.ModeSticky))
	if err := Check(dir); err == nil {
		t.Error("everybody may write it, and it is taken")
	}
	if os.Geteuid() != 0 {
		return // only root can give links away
	}
	must(t, os.Chmod(dir, 0o700))
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	if err := Check(link); err != nil {
		t.Error(err)
	}
	must(t, os.Lchown(link, 65534, 65534))
	if err := Check(link); err == nil {
		t.Error("another user can make the link lead elsewhere, and it is taken")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
