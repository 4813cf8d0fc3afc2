package procid

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// A birthmark identifies the owner of a process, so that another flowrun process can check whether
// the owner is alive. It is stored in a resource limit, which a process does not lose by accident:
// every child inherits limits, exec keeps them, and nothing that steps do to get away (setsid, env
// -i, a double fork, leaving a cgroup) changes them. The limit used is how long a real-time process
// may compute without a pause, in microseconds. The values used are tens of thousands of years.
//
// Only the soft limit is set. A process that changes it on purpose is not found by it. Neither are
// the processes of a flowrun that runs under a lower hard limit.
const (
	rlimitProcesses = 6  // RLIMIT_NPROC
	rlimitRealTime  = 15 // RLIMIT_RTTIME

	PidBits   = 22 // the upper limit of the kernel
	StartBits = 16 // of the start time; enough to notice that a pid was reused
	magicBits = 6
	magic     = 0b101101 // the highest bit stays 0
)

// Birthmark returns the mark of the children that this process starts in the domain, or 0 if they cannot have one.
func (d Domain) Birthmark() uint64 {
	at := uint64(d)
	if at == 0 || Self().Start == 0 || unsafe.Sizeof(uintptr(0)) < 8 {
		return 0
	}
	return ((magic<<DomainBits|at)<<StartBits|Self().Start&(1<<StartBits-1))<<PidBits | uint64(Self().PID)
}

// Orphaned reports whether mark, the soft limit of a process, is a birthmark of the domain whose owner
// has ended.
func (d Domain) Orphaned(mark uint64) bool {
	own := d.Birthmark()
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

// BirthmarkOf returns the mark of another process, or 0 if this user may not read it.
func BirthmarkOf(pid int) uint64 {
	var lim syscall.Rlimit
	if prlimit(pid, rlimitRealTime, nil, &lim) != nil {
		return 0
	}
	return lim.Cur
}

// prlimit reads and sets limits of a process; pid 0 is this one.
func prlimit(pid, which int, set, old *syscall.Rlimit) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), uintptr(which),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Limit is a resource limit of a process.
type Limit struct {
	Resource int
	syscall.Rlimit
}

// ChildLimits returns the limits of a child that differ from those of this process: a birthmark, unless the child may
// outlive the run, and fewer processes than this process may have.
func (d Domain) ChildLimits(outlives bool) (list []Limit) {
	add := func(which int, to func(uint64) uint64) {
		var now syscall.Rlimit
		if prlimit(0, which, nil, &now) != nil {
			return
		}
		if soft := to(now.Cur); soft != now.Cur && soft <= now.Max {
			list = append(list, Limit{which, syscall.Rlimit{Cur: soft, Max: now.Max}})
		}
	}
	if mark := d.Birthmark(); mark != 0 && !outlives {
		add(rlimitRealTime, func(uint64) uint64 { return mark })
	}
	add(rlimitProcesses, MaxStepProcesses)
	return list
}

// SetChildLimits gives this process the limits of a child, for a fork that cannot give it them itself. Call restore
// after it. Until then this process may have fewer threads than it needs, and other children inherit the limits.
func (d Domain) SetChildLimits(outlives bool) (restore func()) {
	var old []Limit
	for _, l := range d.ChildLimits(outlives) {
		was := Limit{Resource: l.Resource}
		if prlimit(0, l.Resource, &l.Rlimit, &was.Rlimit) == nil {
			old = append(old, was)
		}
	}
	return func() {
		for _, l := range old {
			_ = prlimit(0, l.Resource, &l.Rlimit, nil)
		}
	}
}

// reservedProcesses is how many of the processes and threads that its user may have this program
// keeps for itself, so that it can still end a step that has used up all others. Of a low limit it
// keeps a quarter.
const reservedProcesses = 48

// MaxStepProcesses returns how many processes a step may have if this program may have limit.
func MaxStepProcesses(limit uint64) uint64 {
	if limit > 1<<62 { // unlimited
		return limit
	}
	return limit - min(reservedProcesses, limit/4)
}

// HasOrphans reports whether any process carries a birthmark of the domain whose owner has ended.
func (d Domain) HasOrphans() bool {
	if d.Birthmark() == 0 {
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
		if err == nil && d.Orphaned(BirthmarkOf(pid)) {
			return true
		}
	}
	return false
}
