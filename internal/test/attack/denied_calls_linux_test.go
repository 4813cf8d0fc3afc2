package attack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// denying in the environment makes the test program execute its arguments where the kernel answers some system calls
// with an error, as older ones and containers do.
const denying = "FLOWRUN_ATTACK_DENY"

// denial is an answer to system calls.
type denial struct {
	errno syscall.Errno
	flag  uint32 // if not 0, only calls whose third argument has this bit
	calls []uint32
}

func (d denial) String() string {
	words := []string{strconv.Itoa(int(d.errno)), strconv.FormatUint(uint64(d.flag), 10)}
	for _, n := range d.calls {
		words = append(words, strconv.FormatUint(uint64(n), 10))
	}
	return strings.Join(words, " ")
}

func parseDenial(text string) denial {
	var n []uint32
	for _, w := range strings.Fields(text) {
		v, _ := strconv.ParseUint(w, 10, 32)
		n = append(n, uint32(v))
	}
	return denial{syscall.Errno(n[0]), n[1], n[2:]}
}

// filter returns the instructions of the kernel's filter.
func (d denial) filter() (list []bpf.Instruction) {
	const allow, fail = 0x7fff0000, 0x00050000
	const thirdArgument = 32
	for _, call := range d.calls {
		list = append(list, bpf.LoadAbsolute{Off: 0, Size: 4})
		if d.flag == 0 {
			list = append(list, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 1})
		} else {
			list = append(list, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 3},
				bpf.LoadAbsolute{Off: thirdArgument, Size: 4}, bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: d.flag, SkipTrue: 1})
		}
		list = append(list, bpf.RetConstant{Val: fail | uint32(d.errno)})
	}
	return append(list, bpf.RetConstant{Val: allow})
}

// deny lets system calls fail, and executes the arguments.
func deny(text string) {
	raw, err := bpf.Assemble(parseDenial(text).filter())
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
		os.Unsetenv(denying)
		err = syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(99)
}

// where prepares the program as where system calls are denied.
func (s *site) where(d denial, args ...string) *exec.Cmd {
	s.Helper()
	c := s.command(args...)
	c.Path, c.Args = self, append([]string{self, program}, args...)
	c.Env = append(c.Env, denying+"="+d.String())
	return c
}

// TestDeniedCalls: on a kernel that lacks a system call, or in a container that denies it, a tool works, or is refused in
// words before its first step. Nothing of it is left.
func TestDeniedCalls(t *testing.T) {
	t.Parallel()
	const missing, forbidden, invalid = syscall.ENOSYS, syscall.EPERM, syscall.EINVAL
	one := func(e syscall.Errno, calls ...uint32) denial { return denial{errno: e, calls: calls} }
	for name, d := range denials(wide, map[string]denial{
		"Linux 5.9":                     {errno: invalid, flag: unix.CLOSE_RANGE_CLOEXEC, calls: []uint32{unix.SYS_CLOSE_RANGE}},
		"close_range missing":           one(missing, unix.SYS_CLOSE_RANGE),
		"close_range forbidden":         one(forbidden, unix.SYS_CLOSE_RANGE),
		"openat2 missing":               one(missing, unix.SYS_OPENAT2),
		"openat2 forbidden":             one(forbidden, unix.SYS_OPENAT2),
		"clone3 missing":                one(missing, unix.SYS_CLONE3),
		"clone3 forbidden":              one(forbidden, unix.SYS_CLONE3),
		"pidfd missing":                 one(missing, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL),
		"pidfd forbidden":               one(forbidden, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL),
		"Landlock missing":              one(missing, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF),
		"seccomp missing":               one(missing, unix.SYS_SECCOMP),
		"memfd_create missing":          one(missing, unix.SYS_MEMFD_CREATE),
		"statx missing":                 one(missing, unix.SYS_STATX),
		"faccessat2 missing":            one(missing, unix.SYS_FACCESSAT2),
		"prlimit forbidden":             one(forbidden, unix.SYS_PRLIMIT64),
		"unshare and setns forbidden":   one(forbidden, unix.SYS_UNSHARE, unix.SYS_SETNS),
		"madvise invalid":               one(invalid, unix.SYS_MADVISE),
		"epoll_pwait2 and io_uring":     one(missing, unix.SYS_EPOLL_PWAIT2, unix.SYS_IO_URING_SETUP),
		"all that came after Linux 5.4": one(missing, unix.SYS_CLOSE_RANGE, unix.SYS_OPENAT2, unix.SYS_PIDFD_GETFD, unix.SYS_FACCESSAT2, unix.SYS_EPOLL_PWAIT2, unix.SYS_LANDLOCK_CREATE_RULESET),
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			for kind, keys := range map[string]string{
				"plain":    "",
				"limited":  "resources: {max-memory: 200MB}\n",
				"counted":  "resources: {max-processes: 50}\n",
				"reduced":  "security: {execution-privilege: reduced}\n",
				"enforced": "security: {enforce: true}\n",
			} {
				s.write(".flowrun/tools/"+kind+".yaml", "name: "+kind+"\ndescription: x\n"+keys+"sh: echo it works\n")
				out := s.finish(s.where(d, "run", kind))
				works := out.code == 0 && out.stdout == "it works\n"
				refused := out.code == 5 && out.stdout == "" && strings.Contains(out.stderr, "cannot")
				if !works && (kind == "plain" || !refused) {
					t.Errorf("%s: %s", kind, out)
				}
			}
			s.write(".flowrun/tools/tree.yaml", "name: tree\ndescription: x\ntimeout: 1s\nsh: '(setsid sleep 4714 & sleep 4714)'\n")
			if out := s.finish(s.where(d, "run", "tree")); out.code != 124 || !strings.Contains(out.stderr, "timed out") {
				t.Errorf("tree: %s", out)
			}
			waittest.Until(t, "end of the processes", func() bool { return len(s.left()) == 0 }, func() any { return s.left() })
		})
	}
}

// denials returns all, or those that stand for the others.
func denials(all bool, list map[string]denial) map[string]denial {
	if all {
		return list
	}
	const name = "Linux 5.9"
	return map[string]denial{name: list[name]}
}

// left returns the processes that work in the project.
func (s *site) left() (list []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if dir, err := os.Readlink(link); err == nil && dir == s.project {
			list = append(list, filepath.Base(filepath.Dir(link)))
		}
	}
	return list
}
