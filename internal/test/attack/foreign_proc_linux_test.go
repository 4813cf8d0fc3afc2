package attack

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// TestForeignProc: in a PID namespace that still has the /proc of the machine, as bwrap without --proc makes it, flowrun
// takes no process of the machine for one of its own, be it by its number.
func TestForeignProc(t *testing.T) {
	t.Parallel()
	needtest.Programs(t, "unshare")
	if os.Getuid() != 0 {
		t.Skip("only root can make a PID namespace; run the tests as root")
	}
	s := newSite(t)
	s.write("late.yaml", "name: late\ndescription: x\ntimeout: 1s\nsh: sleep 4715\n")
	s.write("left.yaml", "name: left\ndescription: x\nsh: '(setsid sleep 4716 >/dev/null 2>&1 &); echo done'\n")
	for tool, code := range map[string]int{"late.yaml": 124, "left.yaml": 0} {
		c := s.command("run", tool)
		c.Args = append([]string{"unshare", "--pid", "--fork", program}, c.Args[1:]...)
		c.Path, _ = exec.LookPath("unshare")
		out := s.finish(c)
		if out.code != code || strings.Contains(out.stderr, "(pid ") {
			t.Errorf("%s: %s", tool, out)
		}
	}
}

// TestWithoutProc: without /proc no run begins that could not go on.
func TestWithoutProc(t *testing.T) {
	t.Parallel()
	needtest.ReleaseFlags(t) // linked to nothing
	root := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(root, "dev"), 0o755), unix.Mknod(filepath.Join(root, "dev/null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))); err != nil {
		t.Skipf("only root can make a device: %v", err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"flowrun": text, "t.yaml": []byte("name: t\ndescription: x\nrun: /flowrun version\n")} {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	within := func(args ...string) string {
		c := exec.Command("/flowrun", args...)
		c.Err, c.Dir, c.Env = nil, "/", []string{"FLOWRUN_STATE_DIR=/state"}
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		out, _ := c.CombinedOutput()
		return string(out)
	}
	if out := within("run", "/t.yaml"); !strings.Contains(out, "/proc is not mounted") {
		t.Errorf("run: %s", out)
	}
	if out := within("runs"); !strings.Contains(out, "no runs") {
		t.Errorf("runs: %s", out)
	}
}
