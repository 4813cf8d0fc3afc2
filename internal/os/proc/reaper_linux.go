package proc

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// reaper is the state of this process as a subreaper. All Groups share it, because inheriting
// orphans is a property of the process.
var reaper struct {
	sync.Mutex
	on    bool
	open  int          // number of Groups
	roots map[int]bool // children that somebody waits for -> whether Run started them (else a Group did)
}

const prSetChildSubreaper = 36

// BecomeReaper makes this process the parent of every descendant that loses its own, so that
// nothing a step starts can escape. From then on, a child that no Group started counts as left by a
// step, unless Run started it or it is in the process group of this process. Only a program may
// decide this, never a library: the flowrun command and its supervisor process call it.
func BecomeReaper() error {
	if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		return fmt.Errorf("cannot become a subreaper: %w", errno)
	}
	ignoreChildSignals()
	reaper.Lock()
	defer reaper.Unlock()
	reaper.on = true
	reaper.roots = map[int]bool{}
	return nil
}

// ResignReaper takes back BecomeReaper before this process is replaced by another program, which would
// otherwise inherit orphans that it does not know of.
func ResignReaper() { syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 0, 0) }

// ignoreChildSignals takes back the handler that Go installs for SIGCHLD. Nothing here needs the
// signal, and it would wake a sleeping thread each time a child ends.
func ignoreChildSignals() {
	var byDefault [8]uint64 // a struct sigaction of the kernel, or more
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGCHLD), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
}

// IsReaper reports whether BecomeReaper was called.
func IsReaper() bool {
	reaper.Lock()
	defer reaper.Unlock()
	return reaper.on
}

// onlyGroup reports whether this process is a reaper with exactly one Group. Then every inherited
// orphan belongs to that Group.
func onlyGroup() bool {
	reaper.Lock()
	defer reaper.Unlock()
	return reaper.on && reaper.open == 1
}

// countGroups adds n to the number of open Groups.
func countGroups(n int) {
	reaper.Lock()
	defer reaper.Unlock()
	reaper.open += n
}

// startChild calls start, which forks, and records the new child under the lock: otherwise a child
// that ends at once could be reaped as an orphan. own means that the child belongs to no Group. A child of a reaper is
// limited: it has a birthmark.
func startChild(start func(limited bool) (int, error), own bool) (int, error) {
	reaper.Lock()
	if !reaper.on {
		reaper.Unlock()
		return start(false)
	}
	defer reaper.Unlock()
	pid, err := start(true)
	if err == nil {
		reaper.roots[pid] = own
	}
	return pid, err
}

// startedByRun reports whether Run started a child.
func startedByRun(pid int) bool {
	reaper.Lock()
	defer reaper.Unlock()
	return reaper.roots[pid]
}

// forgetChild forgets a first process that has been reaped. It also reaps dead orphans, which are
// most likely when a step ends. none is that this process is a reaper and has no children any more, so
// nothing that it started is left.
func forgetChild(pid int) (none bool) {
	reaper.Lock()
	defer reaper.Unlock()
	if !reaper.on {
		return false
	}
	delete(reaper.roots, pid)
	return reapOrphansLocked()
}

// reapOrphansLocked reaps dead orphans. It stops at the first dead child for which somebody else
// waits. none is that there are no children at all. The lock is held.
func reapOrphansLocked() (none bool) {
	for {
		pid, err := peek(pAll, 0)
		if err != nil || pid == 0 {
			return err == syscall.ECHILD
		}
		if _, root := reaper.roots[pid]; root || !isOrphan(pid) {
			return false
		}
		syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
}

// reapOrphans reaps dead orphans if this process is a reaper.
func reapOrphans() {
	reaper.Lock()
	defer reaper.Unlock()
	if reaper.on {
		reapOrphansLocked()
	}
}

// isOrphan reports whether a child that no Group started was inherited. What this program starts in
// other ways stays in its process group.
func isOrphan(pid int) bool {
	var buf [1024]byte
	e, ok := procid.ReadEntry(pid, buf[:])
	return ok && e.Group != syscall.Getpgrp() && e.Parent == os.Getpid()
}

// hasNoChildren reports whether this process has no children at all. The check is cheap, and for a
// reaper it means that the run has left nothing.
func hasNoChildren() bool {
	_, err := peek(pAll, 0)
	return err == syscall.ECHILD
}

// Kinds of ids for waitid.
const (
	pAll = 0
	pPID = 1
)

// peek returns the pid of a dead child without reaping it, or 0 if no child is dead yet.
func peek(kind, id int) (pid int, err error) {
	const (
		wExited = 4
		wNoWait = 0x01000000
	)
	// siginfo_t: three ints, padding on 64-bit systems, then the pid.
	var info [32]int32
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, uintptr(kind), uintptr(id),
			uintptr(unsafe.Pointer(&info)), syscall.WNOHANG|wExited|wNoWait, 0, 0)
		if errno == 0 {
			return int(info[2+unsafe.Sizeof(uintptr(0))/4]), nil
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}
