package attack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// hidingLandlock in the environment makes the test program execute its arguments as on a kernel
// without Landlock.
const hidingLandlock = "FLOWRUN_ATTACK_HIDE_LANDLOCK"

// hideLandlock lets the system calls of Landlock fail, and executes the arguments.
func hideLandlock() {
	const landlock, calls, noSuchCall = 444, 3, 0x00050000 | uint32(syscall.ENOSYS)
	raw, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: landlock, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: landlock + calls, SkipTrue: 1},
		bpf.RetConstant{Val: noSuchCall},
		bpf.RetConstant{Val: 0x7fff0000},
	})
	if err == nil {
		filter := make([]unix.SockFilter, len(raw))
		for i, r := range raw {
			filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
		}
		program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if _, _, errno := syscall.Syscall(unix.SYS_SECCOMP, 1, 1, uintptr(unsafe.Pointer(&program))); errno != 0 {
			err = errno
		}
	}
	if err == nil {
		os.Unsetenv(hidingLandlock)
		err = syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(99)
}

// withoutLandlock prepares the program as on a kernel without Landlock.
func (s *site) withoutLandlock(args ...string) *exec.Cmd {
	s.Helper()
	c := s.command(args...)
	c.Path, c.Args = self, append([]string{self, program}, args...)
	c.Env = append(c.Env, hidingLandlock+"=1")
	return c
}

func (s *site) runWithoutLandlock(args ...string) outcome {
	s.Helper()
	return s.finish(s.withoutLandlock(args...))
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
