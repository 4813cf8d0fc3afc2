package confine

import (
	"os"
	"runtime"
	"slices"
	"syscall"
)

// processLimit is a limit of each process.
type processLimit struct {
	resource   int
	soft, hard uint64
}

// From linux/capability.h and linux/resource.h.
const (
	capSysNice     = 23
	capSysResource = 24

	limitRealTimePriority = 14
)

// limitProcess sets the limits of each process that this one becomes or starts, and takes away the
// capability to raise them.
func (c *Confinement) limitProcess() error {
	limits := c.processLimits()
	if len(limits) == 0 {
		return nil
	}
	keep := ^uint64(1 << capSysResource)
	if c.NoRealTime {
		keep &^= 1 << capSysNice
	}
	if err := limitCapabilities(keep); err != nil {
		return err
	}
	if c.AddressSpace > 0 {
		reserveMemory()
	}
	for _, l := range limits {
		if err := l.apply(); err != nil {
			return err
		}
	}
	return nil
}

// reserveMemory makes the runtime hold free memory. With a limit of its address space, which it
// exceeds already, this process gets no more from the kernel, and it copies its arguments and its
// environment when it executes the program.
func reserveMemory() {
	size := 1 << 20
	for _, text := range slices.Concat(os.Args, os.Environ()) {
		size += 2 * len(text)
	}
	runtime.KeepAlive(make([]byte, size))
	runtime.GC()
}

func (c *Confinement) processLimits() (list []processLimit) {
	add := func(resource int, limit, beyond int64) {
		if limit > 0 {
			list = append(list, processLimit{resource, uint64(limit), uint64(limit + beyond)})
		}
	}
	add(syscall.RLIMIT_CPU, c.CPUTime, 1) // the signal of the soft limit says which limit it was
	add(syscall.RLIMIT_FSIZE, c.FileSize, 0)
	add(syscall.RLIMIT_NOFILE, c.OpenFiles, 0)
	if c.NoRealTime {
		list = append(list, processLimit{resource: limitRealTimePriority})
	}
	add(syscall.RLIMIT_AS, c.AddressSpace, 0) // last, because this process needs memory itself
	return list
}

// apply sets the limit, unless a lower one applies already.
func (l processLimit) apply() error {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(l.resource, &old); err != nil {
		return err
	}
	return syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: min(l.soft, old.Cur), Max: min(l.hard, old.Max)})
}
