package proc

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// usageOf returns what the kernel counted for a child.
func usageOf(r *syscall.Rusage) Usage {
	return Usage{User: time.Duration(r.Utime.Nano()), System: time.Duration(r.Stime.Nano()), MaxRSS: peakOf(int64(r.Maxrss) << 10)}
}

// ownPeak is the most memory that this process has used, with some more, because the kernel counts
// it only roughly while it is in use.
var ownPeak atomic.Int64

const peakSlack = 2 << 20

// peakOf returns the most memory that a child used, 0 if it is not known. Until a child executes its
// program it shares the memory of this process, and the kernel counts that as memory of the child.
// So a number below what this process has used says nothing.
func peakOf(counted int64) int64 {
	if counted <= ownPeak.Load() {
		return 0
	}
	own, ok := peakOfMemory()
	if !ok {
		return 0
	}
	ownPeak.Store(own + peakSlack)
	if counted <= own+peakSlack {
		return 0
	}
	return counted
}

// peakOfMemory returns the most that this program has used. getrusage does not tell: it also counts the memory of the
// process that started this one, if they shared it for a moment.
func peakOfMemory() (bytes int64, ok bool) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(status), "\nVmHWM:")
	number, _, ok := strings.Cut(strings.TrimLeft(rest, " \t"), " kB")
	kilobytes, err := strconv.ParseInt(number, 10, 64)
	return kilobytes << 10, ok && err == nil
}
