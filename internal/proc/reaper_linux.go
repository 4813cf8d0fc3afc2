package proc

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"github.com/flowrun/flowrun/internal/procid"
)

// reaper is the state of this process as a subreaper. Who inherits orphans is a
// property of a process, so this is the one thing here that Groups share.
var reaper struct {
	sync.Mutex
	on    bool
	open  int          // Groups
	roots map[int]bool // children that somebody waits for; true: of no Group, started by Run
}

const prSetChildSubreaper = 36

// BecomeReaper makes this process inherit every orphan among its descendants, so
// that nothing a step starts can get out of sight. From then on a child that no
// Group started is taken for what a step left behind, unless Run started it or it is
// in this process's own process group. That is for a program to decide, never for a
// library: the flowrun command and its helper call it.
func BecomeReaper() error {
	if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		return fmt.Errorf("cannot become a subreaper: %w", errno)
	}
	reaper.Lock()
	defer reaper.Unlock()
	reaper.on = true
	reaper.roots = map[int]bool{}
	return nil
}

// IsReaper says whether BecomeReaper was called.
func IsReaper() bool {
	reaper.Lock()
	defer reaper.Unlock()
	return reaper.on
}

// onlyGroup says whether this process is a reaper with one Group: then every adopted
// child is of that Group.
func onlyGroup() bool {
	reaper.Lock()
	defer reaper.Unlock()
	return reaper.on && reaper.open == 1
}

func countGroups(n int) {
	reaper.Lock()
	defer reaper.Unlock()
	reaper.open += n
}

// startChild runs start, which forks, and notes the new child before anybody can look
// for orphans: one that ends at once would be taken for one. own says that it belongs to
// no Group, outlives that it may outlive this process. A reaper is a program whose own
// limits are its own business, so there the child is marked by them as well.
func startChild(start func() (int, error), own, outlives bool) (int, error) {
	reaper.Lock()
	if !reaper.on {
		reaper.Unlock()
		return start()
	}
	defer reaper.Unlock()
	defer procid.SetChildLimits(outlives)()
	pid, err := start()
	if err == nil {
		reaper.roots[pid] = own
	}
	return pid, err
}

// startedByRun says whether a child was started by Run.
func startedByRun(pid int) bool {
	reaper.Lock()
	defer reaper.Unlock()
	return reaper.roots[pid]
}

// forgetChild forgets a first process that has been reaped, and reaps orphans that
// died: the end of a step is when there are some.
func forgetChild(pid int) {
	reaper.Lock()
	defer reaper.Unlock()
	if !reaper.on {
		return
	}
	delete(reaper.roots, pid)
	reapOrphansLocked()
}

// reapOrphansLocked takes dead adopted children away, up to the first dead child that
// is somebody else's to wait for. The lock is held.
func reapOrphansLocked() {
	for {
		pid, err := peek(pAll, 0)
		if err != nil || pid == 0 {
			return
		}
		if _, root := reaper.roots[pid]; root || !isOrphan(pid) {
			return
		}
		syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
}

func reapOrphans() {
	reaper.Lock()
	defer reaper.Unlock()
	if reaper.on {
		reapOrphansLocked()
	}
}

// isOrphan says whether a child that no Group started came by itself: what this
// program starts in other ways stays in its process group.
func isOrphan(pid int) bool {
	var buf [1024]byte
	e, ok := procid.ReadEntry(pid, buf[:])
	return ok && e.Group != syscall.Getpgrp() && e.Parent == os.Getpid()
}

// hasNoChildren says that this process has no child at all, which is cheap to know
// and means that a reaper's run has left nothing.
func hasNoChildren() bool {
	_, err := peek(pAll, 0)
	return err == syscall.ECHILD
}

// What waitid can be asked about.
const (
	pAll = 0
	pPID = 1
)

// peek asks for a dead child without reaping it: 0 when there is none yet.
func peek(kind, id int) (pid int, err error) {
	const (
		wExited = 4
		wNoWait = 0x01000000
	)
	// siginfo_t: three ints, padding where pointers are wide, then the pid.
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
