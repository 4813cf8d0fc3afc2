package confine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/flowrun/flowrun/internal/procid"
)

// Seal keeps what this process holds from the processes that it starts: call it first
// thing in main. Descriptors that were inherited go no further, other processes of the
// same user may not look into its memory or its environment, and nothing that root starts
// types into terminals ([RefuseTyping]).
func Seal() {
	CloseFilesOnExec()
	makeUndumpable()
	RefuseTyping()
}

// CloseFilesOnExec has every open descriptor but stdin, stdout and stderr closed in the
// programs that this process starts, those that it has inherited itself included.
func CloseFilesOnExec() {
	const (
		closeRange  = 436 // the system call, on every architecture
		closeOnExec = 4
		last        = 1<<32 - 1
	)
	if _, _, errno := syscall.RawSyscall(closeRange, 3, last, closeOnExec); errno == 0 {
		return
	}
	open, err := os.ReadDir("/proc/self/fd") // a kernel before 5.11
	if err != nil {
		return
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// makeUndumpable keeps other processes of this user from attaching to this one and from
// reading its memory and environment. A flowrun inside another's step stays readable: by
// its environment the other finds it when it has to end what the step left.
func makeUndumpable() {
	const prSetDumpable = 4
	if os.Getenv(procid.MarkOwner) == "" || os.Geteuid() == 0 {
		_ = prctl(prSetDumpable, 0, 0)
	}
}

// ForgetEnv takes variables out of this process's environment and overwrites them where
// the kernel reads what it shows as /proc/PID/environ; os.Unsetenv alone leaves them there
// for every process that may look. Copies that were made of them stay.
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

// firstArgument is os.Args[0] as the kernel laid it down: a program may name itself anew.
var firstArgument = func() string {
	if len(os.Args) == 0 {
		return ""
	}
	return os.Args[0]
}()

// environBlock is the memory in which the kernel has put the environment of this process.
// Go's own strings are copies of it. It stands behind the arguments, the first of
// which points there: if that is not where the kernel has it, nothing is touched.
func environBlock() ([]byte, error) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return nil, err
	}
	const argStart, envStart, envEnd = 45, 47, 48 // counted from the state, as in parseStat
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= envEnd || firstArgument == "" {
		return nil, fmt.Errorf("the kernel does not say where it is")
	}
	var at [3]uint64
	for i, n := range []int{argStart, envStart, envEnd} {
		if at[i], err = strconv.ParseUint(fields[n], 10, 64); err != nil {
			return nil, err
		}
	}
	first := unsafe.Pointer(unsafe.StringData(firstArgument))
	if uint64(uintptr(first)) != at[0] || at[1] <= at[0] || at[2] < at[1] {
		return nil, fmt.Errorf("it is not behind the arguments")
	}
	return unsafe.Slice((*byte)(unsafe.Add(first, at[1]-at[0])), at[2]-at[1]), nil
}
