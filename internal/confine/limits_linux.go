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
