package confinement

import (
	"fmt"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/internal/os/confine"
)

// Limits is what each step of a tool may use. 0 means that something is not limited.
type Limits struct {
	MaxMemory    int64         // bytes, of all its processes together
	MaxProcesses int           // processes and threads at a time
	MaxCPU       time.Duration // CPU time of all its processes together
	CPU          float64       // processors: 0.5 is half of the time of one
	MaxFileSize  int64         // bytes of each file that it writes
	MaxOpenFiles int           // of each process
	MaxOutput    int64         // bytes of stdout and stderr together
}

// within returns the lower of the limits of two tools.
func (l Limits) within(outer Limits) Limits {
	return Limits{
		MaxMemory:    lower(l.MaxMemory, outer.MaxMemory),
		MaxProcesses: lower(l.MaxProcesses, outer.MaxProcesses),
		MaxCPU:       lower(l.MaxCPU, outer.MaxCPU),
		CPU:          lower(l.CPU, outer.CPU),
		MaxFileSize:  lower(l.MaxFileSize, outer.MaxFileSize),
		MaxOpenFiles: lower(l.MaxOpenFiles, outer.MaxOpenFiles),
		MaxOutput:    lower(l.MaxOutput, outer.MaxOutput),
	}
}

func lower[T int | int64 | float64 | time.Duration](a, b T) T {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// NeedKernel reports whether the kernel has to hold some of the limits. flowrun itself holds that of
// the output.
func (l Limits) NeedKernel() bool {
	l.MaxOutput = 0
	return l != Limits{}
}

// CheckLimits returns why the limits cannot be enforced here, one reason for each.
func (c Confinement) CheckLimits() []error {
	_, reasons := c.Enforceable()
	return reasons
}

// Enforceable returns those of the limits that can be enforced here, and why the others cannot.
// Memory and CPU time are limited for each process where there can be no cgroup. The limits of a
// container are those of its program.
func (c Confinement) Enforceable() (l Limits, reasons []error) {
	l = c.Limits
	if c.Image != "" || !l.NeedKernel() {
		return l, nil
	}
	perProcess := func() error { return nil }
	cgroupFor := func(l cgroup.Limits) func() error { return func() error { return cgroup.CanLimit(l) } }
	for _, one := range []struct {
		key   string
		set   bool
		can   func() error
		clear func()
	}{
		{"max-memory", l.MaxMemory > 0, perProcess, func() { l.MaxMemory = 0 }},
		{"max-processes", l.MaxProcesses > 0, cgroupFor(cgroup.Limits{Processes: 1}), func() { l.MaxProcesses = 0 }},
		{"max-cpu", l.MaxCPU > 0, perProcess, func() { l.MaxCPU = 0 }},
		{"cpu", l.CPU > 0, cgroupFor(cgroup.Limits{CPU: 1}), func() { l.CPU = 0 }},
		{"max-file-size", l.MaxFileSize > 0, perProcess, func() { l.MaxFileSize = 0 }},
		{"max-open-files", l.MaxOpenFiles > 0, perProcess, func() { l.MaxOpenFiles = 0 }},
	} {
		if !one.set {
			continue
		}
		err := confine.Available()
		if err == nil {
			err = one.can()
		}
		if err != nil {
			one.clear()
			reasons = append(reasons, fmt.Errorf("cannot enforce %s: %w", one.key, err))
		}
	}
	return l, reasons
}

// SizeText returns a size as it is written in a definition.
func SizeText(n int64) string {
	units := []struct {
		name string
		size int64
	}{{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"KB", 1e3}}
	for _, u := range units {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + " " + u.name
		}
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
