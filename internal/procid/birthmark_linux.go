package procid

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// A birthmark is a sign that a process cannot shed by accident: resource limits pass to
// every child and through every exec, and nothing that steps do to get away (setsid,
// env -i, a double fork, leaving a cgroup) changes them. The one that is used bounds how
// long a real-time process may compute without a pause, in microseconds; the values used
// are tens of thousands of years. It says which process is the owner, so that another one
// knows whether it lives.
//
// Only the soft limit is set. A process that lowers or raises it on purpose is not found
// by it, and neither are those of a program that runs under a lower hard limit.
const (
	rlimitProcesses = 6  // RLIMIT_NPROC
	rlimitRealTime  = 15 // RLIMIT_RTTIME

	PidBits   = 22 // the kernel's own bound
	StartBits = 16 // of the start time: enough to tell a number that is used again
	magicBits = 6
	magic     = 0b101101 // the highest bit of all stays 0
)

// Birthmark is what the children of this process carry; 0 where there is none.
func Birthmark() uint64 {
	at := uint64(place.Load())
	if at == 0 || Self().Start == 0 || unsafe.Sizeof(uintptr(0)) < 8 {
		return 0
	}
	return ((magic<<PlaceBits|at)<<StartBits|Self().Start&(1<<StartBits-1))<<PidBits | uint64(Self().PID)
}

// Orphaned says of a process's soft limit that it is a birthmark of this place whose
// owner is gone.
func Orphaned(mark uint64) bool {
	own := Birthmark()
	if own == 0 || mark>>(StartBits+PidBits) != own>>(StartBits+PidBits) {
		return false
	}
	var buf [1024]byte
	pid := int(mark & (1<<PidBits - 1))
	e, ok := ReadEntry(pid, buf[:])
	if !ok {
		return syscall.Kill(pid, 0) == syscall.ESRCH
	}
	return e.Dead() || e.Start&(1<<StartBits-1) != mark>>PidBits&(1<<StartBits-1)
}

// BirthmarkOf reads another process's mark; 0 where this user may not.
func BirthmarkOf(pid int) uint64 {
	var lim syscall.Rlimit
	if prlimit(pid, rlimitRealTime, nil, &lim) != nil {
		return 0
	}
	return lim.Cur
}

func prlimit(pid, which int, set, old *syscall.Rlimit) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), uintptr(which),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// SetChildLimits sets the limits that the next child inherits: a birthmark, unless it is to
// outlive the run, and fewer processes than this one may have. The answer restores them.
// In between this program's other children inherit them too; none of those outlives it.
func SetChildLimits(outlives bool) (restore func()) {
	var old [2]syscall.Rlimit
	var changed [2]bool
	if mark := Birthmark(); mark != 0 && !outlives {
		changed[0] = changeLimit(rlimitRealTime, &old[0], func(uint64) uint64 { return mark })
	}
	changed[1] = changeLimit(rlimitProcesses, &old[1], MaxStepProcesses)
	return func() {
		for i, which := range [2]int{rlimitRealTime, rlimitProcesses} {
			if changed[i] {
				_ = prlimit(0, which, &old[i], nil)
			}
		}
	}
}

// changeLimit changes a soft limit of this process and says whether it did.
func changeLimit(which int, old *syscall.Rlimit, to func(uint64) uint64) bool {
	if prlimit(0, which, nil, old) != nil {
		return false
	}
	lim := syscall.Rlimit{Cur: to(old.Cur), Max: old.Max}
	return lim.Cur != old.Cur && lim.Cur <= lim.Max && prlimit(0, which, &lim, nil) == nil
}

// reservedProcesses is how many processes and threads this program keeps for itself, of those
// that its user may have: a step that has used up all others cannot keep it from ending
// that step. A limit so small that this is a quarter of it is shared.
const reservedProcesses = 48

func MaxStepProcesses(limit uint64) uint64 {
	if limit > 1<<62 { // none
		return limit
	}
	return limit - min(reservedProcesses, limit/4)
}

// HasOrphans says whether any process carries a birthmark of this place whose owner is gone.
func HasOrphans() bool {
	own := Birthmark()
	if own == 0 {
		return false
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err == nil && Orphaned(BirthmarkOf(pid)) {
			return true
		}
	}
	return false
}
