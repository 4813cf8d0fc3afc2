package procid

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// state looks up the process in /proc. It returns Unknown if this process cannot find itself there.
func (i Identity) state() Liveness {
	if i.Start == 0 || Self().Start == 0 {
		return Unknown
	}
	var buf [1024]byte
	e, ok := ReadEntry(i.PID, buf[:])
	switch {
	case ok && e.Start == i.Start && !e.Dead():
		return Alive
	case ok:
		return Dead
	case syscall.Kill(i.PID, 0) == syscall.ESRCH:
		return Dead
	}
	return Unknown // the pid is taken, and /proc hides by whom
}

// ownStart returns when this process started, 0 if ReadEntry cannot read it.
func ownStart() uint64 {
	var buf [1024]byte
	e, _ := ReadEntry(os.Getpid(), buf[:])
	return e.Start
}

// namespace returns the names of the pid namespace and the time namespace, in which pids and start
// times are valid. Kernels before 5.6 have no time namespaces.
func namespace() string {
	var names []string
	for _, kind := range []string{"pid", "time"} {
		if name, err := os.Readlink("/proc/self/ns/" + kind); err == nil {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// BootID returns an id that is new after every boot of the machine. It is "" on platforms other
// than Linux.
func BootID() string { return bootID() }

var bootID = sync.OnceValue(func() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
})

// Uptime returns the time since boot, including time in which the machine was suspended. It does
// not jump when the wall clock is set, and all processes of a boot agree on it, in all time
// namespaces. On platforms other than Linux it is the wall clock's time since 1970.
func Uptime() time.Duration { return bootClock() - bootOffset() }

// bootClock returns the time since boot as the time namespace of this process counts it. The start
// times in /proc are counted so, too.
func bootClock() time.Duration {
	const clockBoottime = 7
	var t syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&t)), 0)
	if errno != 0 { // does not happen on kernels that Go supports
		return 0
	}
	return time.Duration(t.Nano())
}

var offset struct {
	sync.Once
	time.Duration
}

// bootOffset returns what the time namespace of this process adds to the time since boot. Without
// it a lease would have expired at once, or never, for a process in another time namespace.
func bootOffset() time.Duration {
	offset.Do(func() { offset.Duration = readBootOffset() })
	return offset.Duration
}

func readBootOffset() time.Duration {
	text, _ := os.ReadFile("/proc/self/timens_offsets") // older kernels have no time namespaces
	for line := range strings.Lines(string(text)) {
		var seconds, nanoseconds int64
		if _, err := fmt.Sscanf(line, "boottime %d %d", &seconds, &nanoseconds); err == nil {
			return time.Duration(seconds)*time.Second + time.Duration(nanoseconds)
		}
	}
	return 0
}
