package confine

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// selfFile is this program, also when its file was replaced or removed meanwhile.
const selfFile = "/proc/self/exe"

// Available says why this platform cannot confine processes, nil where it can.
func Available() error { return nil }

// become gives up rights in the order in which each is still needed, and then
// becomes the program. It returns only with an error.
func become(c Confinement, file string, args []string) error {
	runtime.LockOSThread() // rights are a thread's, and exec keeps those of its caller
	CloseFilesOnExec()
	for _, procs := range c.Join {
		if err := os.WriteFile(procs, []byte("0"), 0); err != nil {
			return fmt.Errorf("cannot enter the cgroup that bounds its memory: %w", err)
		}
	}
	if c.Reduced {
		if err := reduce(cmp.Or(c.User, Nobody)); err != nil {
			return fmt.Errorf("cannot reduce its privileges: %w", err)
		}
		RefuseTyping()
	}
	if c.AddressSpace > 0 {
		lim := syscall.Rlimit{Cur: uint64(c.AddressSpace), Max: uint64(c.AddressSpace)}
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &lim); err != nil {
			return fmt.Errorf("cannot bound its memory: %w", err)
		}
	}
	return execute(file, args)
}

// execute becomes the program. One that root found along PATH may be out of reach now,
// and then what comes next there counts, as it does for a shell.
func execute(file string, args []string) error {
	env := os.Environ()
	err := syscall.Exec(file, args, env)
	if err != syscall.EACCES || strings.Contains(args[0], "/") {
		return err
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			_ = syscall.Exec(filepath.Join(dir, args[0]), args, env)
		}
	}
	return fmt.Errorf("user %d may not execute %s: %w", os.Geteuid(), file, err)
}

// From linux/prctl.h and linux/capability.h.
const (
	prCapBoundingDrop = 24
	prSetNoNewPrivs   = 38
	prCapAmbient      = 47
	ambientClearAll   = 4
	capVersion3       = 0x20080522
	maxCapabilities   = 64
)

// reduce leaves this thread without capabilities and without a way to get any. Root becomes
// the user.
func reduce(user int) error {
	if err := prctl(prSetNoNewPrivs, 1, 0); err != nil {
		return err
	}
	for c := range uintptr(maxCapabilities) {
		// Needs a capability itself, and is one lock more: no_new_privs is the one that holds.
		if prctl(prCapBoundingDrop, c, 0) != nil {
			break
		}
	}
	_ = prctl(prCapAmbient, ambientClearAll, 0) // refused only where there are none
	if os.Geteuid() == 0 {
		if err := dropRoot(user); err != nil {
			return fmt.Errorf("root cannot become user %d: %w", user, err)
		}
	}
	return dropCapabilities()
}

func dropRoot(user int) error {
	if err := syscall.Setgroups([]int{}); err != nil {
		return err
	}
	if err := syscall.Setresgid(Nobody, Nobody, Nobody); err != nil {
		return err
	}
	return syscall.Setresuid(user, user, user)
}

// dropCapabilities empties the permitted, effective and inheritable sets.
func dropCapabilities() error {
	header := struct {
		version uint32
		pid     int32
	}{version: capVersion3}
	var none [2]struct{ effective, permitted, inheritable uint32 }
	_, _, errno := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)), 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func prctl(option, a, b uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, a, b, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// hasRunUsers says whether this user namespace has the numbers of RunUser.
var hasRunUsers = sync.OnceValue(func() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		var inside, outside, count int64
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err == nil && inside <= firstUser && firstUser+userCount <= inside+count {
			return true
		}
	}
	return false
})
