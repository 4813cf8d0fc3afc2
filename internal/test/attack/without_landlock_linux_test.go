package attack

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

var withoutLandlock = denial{errno: syscall.ENOSYS, calls: []uint32{unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF}}

func (s *site) runWithoutLandlock(args ...string) outcome {
	s.Helper()
	return s.finish(s.where(withoutLandlock, args...))
}

// TestNoMechanism: where neither Landlock nor bubblewrap is there, an enforced tool does not run,
// unless the caller insists on it. Then the run says what was not enforced.
func TestNoMechanism(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	bin := filepath.Join(s.dir, "bin")
	for _, name := range []string{"bash", "touch"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		os.MkdirAll(bin, 0o755)
		os.Symlink(path, filepath.Join(bin, name))
	}
	s.env = append(s.env, "PATH="+bin)
	s.write(".flowrun/tools/asked.yaml", "name: asked\ndescription: x\nsecurity: {enforce: true}\nbash: touch RAN\n")
	s.write(".flowrun/tools/plain.yaml", "name: plain\ndescription: x\ntags: [read]\nbash: touch RAN\n")
	const missing = "no Landlock"
	for _, args := range [][]string{{"run", "asked"}, {"call", "plain", "--auto-approve", "*", "--trust-project"}} {
		out := s.runWithoutLandlock(args...)
		if out.code != 5 || !strings.Contains(out.stdout+out.stderr, missing) || !strings.Contains(out.stdout+out.stderr, "bubblewrap is not installed") || s.exists("RAN") {
			t.Errorf("%s: %s", args, out)
		}
		out = s.runWithoutLandlock(append(args, "--allow-unenforced")...)
		shown := s.run("show", "latest")
		document := s.run("show", "latest", "-o", "json")
		if out.code != 0 || !s.exists("RAN") || !strings.Contains(shown.stdout, missing) || !strings.Contains(document.stdout, `"unenforced": [`) {
			t.Errorf("%s: %s\n%s\n%s", args, out, shown, document)
		}
		os.Remove(s.path("RAN"))
	}
}
