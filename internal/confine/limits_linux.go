package confine

import (
	"syscall"
)

// limitProcess sets the limits of each process that this one becomes or starts, and takes away the
// capability to raise them.
func (c *Confinement) limitProcess() error {
	limited := false
	for _, l := range []struct {
		resource int
		limit    int64
		beyond   uint64 // how much higher the hard limit is
	}{
		{syscall.RLIMIT_CPU, c.CPUTime, 1}, // the signal of the soft limit says which limit it was
		{syscall.RLIMIT_FSIZE, c.FileSize, 0},
		{syscall.RLIMIT_NOFILE, c.OpenFiles, 0},
		{syscall.RLIMIT_AS, c.AddressSpace, 0}, // last, because this process needs memory itself
	} {
		if l.limit == 0 {
			continue
		}
		if !limited {
			limited = true
			if err := limitCapabilities(^uint64(1 << capSysResource)); err != nil {
				return err
			}
		}
		if err := lowerLimit(l.resource, uint64(l.limit), uint64(l.limit)+l.beyond); err != nil {
			return err
		}
	}
	return nil
}

// lowerLimit sets a limit, unless a lower one applies already.
func lowerLimit(resource int, soft, hard uint64) error {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(resource, &old); err != nil {
		return err
	}
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: min(soft, old.Cur), Max: min(hard, old.Max)})
}

const capSysResource = 24 // from linux/capability.h
