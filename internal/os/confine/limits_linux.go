package confine

import (
	"runtime"
	"runtime/debug"
	"syscall"
)

// processLimit is a limit of each process.
type processLimit struct {
	resource   int
	soft, hard uint64
}

// limitRealTimePriority is from linux/resource.h.
const limitRealTimePriority = 14

// limitProcess adds the calls that limit each process. A limit that is lower already stays.
func (c *Confinement) limitProcess(k *Calls) error {
	for _, l := range c.processLimits() {
		now := new(syscall.Rlimit)
		if err := syscall.Getrlimit(l.resource, now); err != nil {
			return err
		}
		now.Cur, now.Max = min(l.soft, now.Cur), min(l.hard, now.Max)
		k.must(syscall.SYS_PRLIMIT64, 0, uintptr(l.resource), pointer(k, now))
	}
	return nil
}

// reserveMemory makes the runtime hold free memory for the report that the program cannot be executed. With
// a limit of its address space, this process gets no more from the kernel.
func reserveMemory() {
	runtime.KeepAlive(make([]byte, 1<<20))
	runtime.GC()
	debug.SetGCPercent(-1) // a later collection needs memory
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
	add(syscall.RLIMIT_AS, c.AddressSpace, 0) // last: see executeLimited
	return list
}
