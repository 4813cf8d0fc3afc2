package confine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// Seal protects what this process holds from the processes that it starts. Call it first in main.
// Inherited descriptors are not passed on, other processes of the same user cannot read its memory
// or its environment, and nothing that root starts can type into terminals ([RefuseTyping]).
func Seal() {
	CloseFilesOnExec()
	makeUndumpable()
	RefuseTyping()
}

// Of close_range, which closes descriptors or marks them to be closed.
const (
	closeRange       = 436 // number of the system call on every architecture
	closeRangeOnExec = 4
	maxDescriptor    = 1<<32 - 1
)

// closeFilesOnExec marks all descriptors from this number on. Kernels before 5.11 cannot do it.
func closeFilesOnExec(from uintptr) error {
	if _, _, errno := syscall.RawSyscall(closeRange, from, maxDescriptor, closeRangeOnExec); errno != 0 {
		return errno
	}
	return nil
}

// CloseFilesOnExec marks every descriptor except stdin, stdout and stderr, including inherited
// ones, to be closed in the programs that this process starts.
func CloseFilesOnExec() {
	if closeFilesOnExec(3) == nil {
		return
	}
	open, err := os.ReadDir("/proc/self/fd") // kernels before 5.11
	if err != nil {
		return
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// makeUndumpable prevents other processes of this user from attaching to this process and from
// reading its memory and environment. A flowrun inside a step of another flowrun stays readable,
// unless it runs as root: the outer one needs its environment to find and end it.
func makeUndumpable() {
	const prSetDumpable = 4
	if os.Getenv(procid.MarkOwner) == "" || os.Geteuid() == 0 {
		_ = prctl(prSetDumpable, 0, 0)
	}
}

// ForgetEnv removes variables from the environment of this process and overwrites them in the
// memory that the kernel shows as /proc/PID/environ. os.Unsetenv alone leaves them there for every
// process that may read it. Copies made earlier stay.
func ForgetEnv(names ...string) error {
	for _, name := range names {
		os.Unsetenv(name)
	}
	block, err := environBlock()
	if err != nil {
		return fmt.Errorf("cannot overwrite the environment that /proc shows: %w", err)
	}
	for at := 0; at < len(block); {
		end := at
		for end < len(block) && block[end] != 0 {
			end++
		}
		for _, name := range names {
			if strings.HasPrefix(string(block[at:end]), name+"=") {
				clear(block[at:end])
			}
		}
		at = end + 1
	}
	return nil
}

// firstArgument is os.Args[0] where the kernel put it. A program may change os.Args later.
var firstArgument = func() string {
	if len(os.Args) == 0 {
		return ""
	}
	return os.Args[0]
}()

// environBlock returns the memory in which the kernel put the environment of this process; Go's own
// strings are copies. It follows the arguments, and os.Args[0] points to the first of those. If the
// kernel says that they are elsewhere, environBlock fails, so that nothing is overwritten.
func environBlock() ([]byte, error) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return nil, err
	}
	const argStart, envStart, envEnd = 45, 47, 48 // counted from the state, as in procid.ParseStat
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= envEnd || firstArgument == "" {
		return nil, fmt.Errorf("the kernel does not show its address")
	}
	var at [3]uint64
	for i, n := range []int{argStart, envStart, envEnd} {
		if at[i], err = strconv.ParseUint(fields[n], 10, 64); err != nil {
			return nil, err
		}
	}
	first := unsafe.Pointer(unsafe.StringData(firstArgument))
	if uint64(uintptr(first)) != at[0] || at[1] <= at[0] || at[2] < at[1] {
		return nil, fmt.Errorf("it does not follow the arguments")
	}
	return unsafe.Slice((*byte)(unsafe.Add(first, at[1]-at[0])), at[2]-at[1]), nil
}
