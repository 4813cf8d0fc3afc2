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

	"github.com/flowrun/flowrun/internal/systrace"
)

// selfFile is this program, even if its file has been replaced or removed.
const selfFile = "/proc/self/exe"

// Available returns nil if this platform can confine processes, and otherwise why not.
func Available() error { return nil }

// become gives up rights, each after the last action that needs it, and then executes the program.
// It returns only if that fails.
func become(c Confinement, file string, args []string) error {
	runtime.LockOSThread() // rights belong to a thread, and exec keeps those of the thread that calls it
	CloseFilesOnExec()
	tracer, err := systrace.Dial(c.Trace)
	if err != nil {
		return err
	}
	for _, procs := range c.Join {
		if err := os.WriteFile(procs, []byte("0"), 0); err != nil {
			return fmt.Errorf("cannot enter a cgroup that limits its resources: %w", err)
		}
	}
	if c.Sandbox != nil && c.Sandbox.Bubblewrap == "" {
		if err := c.Sandbox.restrictFiles(); err != nil {
			return fmt.Errorf("cannot restrict its access to files: %w", err)
		}
	}
	if c.Reduced {
		if err := reduce(cmp.Or(c.User, Nobody)); err != nil {
			return fmt.Errorf("cannot reduce its privileges: %w", err)
		}
		RefuseTyping()
	}
	switch {
	case c.Sandbox == nil:
	case c.Sandbox.Bubblewrap != "":
		var err error
		if file, args, err = c.Sandbox.inBubblewrap(file, args); err != nil {
			return err
		}
	default:
		if err := c.Sandbox.restrictCalls(); err != nil {
			return fmt.Errorf("cannot restrict its system calls: %w", err)
		}
	}
	if err := c.limitProcess(); err != nil {
		return fmt.Errorf("cannot limit its resources: %w", err)
	}
	if err := tracer.Start(); err != nil {
		return err
	}
	return execute(file, args)
}

// execute executes the program. Root may have found a program along PATH that this user may not
// execute; then it tries the next one along PATH, as a shell does.
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
	return fmt.Errorf("user %d cannot execute %s: %w", os.Geteuid(), file, err)
}

// Constants from linux/prctl.h and linux/capability.h.
const (
	prCapBoundingRead = 23
	prCapBoundingDrop = 24
	prSetNoNewPrivs   = 38
	prCapAmbient      = 47
	ambientClearAll   = 4
	capVersion3       = 0x20080522
	maxCapabilities   = 64
)

// capabilitiesOfRoot are those that root keeps in a Sandbox: chown, dac_override, fowner, fsetid,
// kill, setgid, setuid and net_bind_service. The others reach memory and logs of the kernel, devices
// and the clock, which no rule for files protects.
const capabilitiesOfRoot = 1<<0 | 1<<1 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<10

// limitCapabilities removes all other capabilities of this thread, and every way to get one.
func limitCapabilities(keep uint64) error {
	for c := range uintptr(maxCapabilities) {
		if keep>>c&1 == 1 {
			continue
		}
		has, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prCapBoundingRead, c, 0, 0, 0, 0)
		if errno != 0 { // the kernel has no more
			break
		}
		if has == 0 {
			continue
		}
		if err := prctl(prCapBoundingDrop, c, 0); err != nil && os.Geteuid() == 0 {
			return err
		}
	}
	_ = prctl(prCapAmbient, ambientClearAll, 0) // fails only on kernels without ambient capabilities
	header, sets := capabilityHeader(), [2]capabilitySet{}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets)), 0); errno != 0 {
		return errno
	}
	for i := range sets {
		kept := sets[i].permitted & uint32(keep>>(32*i))
		sets[i] = capabilitySet{effective: kept, permitted: kept}
	}
	return setCapabilities(sets)
}

// reduce removes all capabilities of this thread and every way to get one. Root becomes the user.
func reduce(user int) error {
	if err := prctl(prSetNoNewPrivs, 1, 0); err != nil {
		return err
	}
	for c := range uintptr(maxCapabilities) {
		// Dropping one needs a capability, so it may fail. It is an additional safeguard:
		// no_new_privs alone is sufficient.
		if prctl(prCapBoundingDrop, c, 0) != nil {
			break
		}
	}
	_ = prctl(prCapAmbient, ambientClearAll, 0) // fails only on kernels without ambient capabilities
	if os.Geteuid() == 0 {
		if err := dropRoot(user); err != nil {
			return fmt.Errorf("cannot switch from root to user %d: %w", user, err)
		}
	}
	return setCapabilities([2]capabilitySet{})
}

// dropRoot changes the user, sets the group to Nobody and drops all other groups.
func dropRoot(user int) error {
	if err := syscall.Setgroups([]int{}); err != nil {
		return err
	}
	if err := syscall.Setresgid(Nobody, Nobody, Nobody); err != nil {
		return err
	}
	return syscall.Setresuid(user, user, user)
}

// capHeader and capabilitySet are structures of capset. The second set holds capabilities from 32.
type (
	capHeader struct {
		version uint32
		pid     int32
	}
	capabilitySet struct{ effective, permitted, _ uint32 } // the last one is inheritable
)

func capabilityHeader() capHeader { return capHeader{version: capVersion3} }

// setCapabilities sets the capabilities of this thread.
func setCapabilities(sets [2]capabilitySet) error {
	header := capabilityHeader()
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets)), 0); errno != 0 {
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

// hasRunUsers reports whether this user namespace has the numbers of RunUser.
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
