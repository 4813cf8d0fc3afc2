package confine

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/flowrun/flowrun/internal/os/vfork"
)

// Program is what a confined process executes.
type Program struct {
	Path    string
	Args    []string
	Dir     string     // where it runs; "" is the folder of this process
	Files   [3]uintptr // its stdin, stdout and stderr
	OwnUser bool       // it is in a user namespace of its own, where it has all capabilities
}

// Calls are the system calls with which a process gives up its rights, each after the last one that
// needs it, and the program that it then executes. The process may be a child that still has the memory
// of this one. Close them after that.
type Calls struct {
	List    []vfork.Call
	Program Program

	purpose  string   // what the calls do that are added next
	purposes []string // of each call
	asRoot   int      // how many calls a process makes before it becomes another user
	files    []int    // descriptors that the calls use
	memory   []any    // what their arguments point to
}

// Calls returns the calls for a process that executes the program.
func (c *Confinement) Calls(p Program) (*Calls, error) {
	k := &Calls{Program: p}
	for _, part := range []struct {
		purpose string
		add     func(*Calls) error
	}{
		{"close the files that it inherits", closeFiles},
		{"restrict its access to files", c.restrictFiles},
		{"reduce its privileges", c.limitCapabilities},
		{"restrict its system calls", c.restrictCalls},
		{"limit its resources", c.limitProcess},
	} {
		k.purpose = part.purpose
		if err := part.add(k); err != nil {
			k.Close()
			return nil, fmt.Errorf("cannot %s: %w", part.purpose, err)
		}
	}
	return k, nil
}

// NeedsProcess reports whether the calls are not enough, so that the process has to be started by Wrap:
//
//   - The kernel takes several milliseconds to move a process to another cgroup. A child that has the
//     memory of this process holds it up for that time.
//   - It must not become another user either: the processes of that user could stop it.
//   - Its own exec is reported to the Tracer, which could not answer meanwhile.
//   - Kernels before 5.11 cannot close its files by one call.
func (c *Confinement) NeedsProcess() bool {
	return len(c.Join) > 0 || c.changesUser() || c.Trace != "" || closeFilesOnExec(maxDescriptor) != nil
}

// closeFiles adds the call for the files that it inherits. Where there is no such call, Wrap has started the process, and
// that has marked them already (CloseFilesOnExec).
func closeFiles(k *Calls) error {
	if closeFilesOnExec(maxDescriptor) == nil {
		k.must(closeRange, 3, maxDescriptor, closeRangeOnExec)
	}
	return nil
}

func (k *Calls) add(optional bool, number uintptr, args ...uintptr) {
	call := vfork.Call{Number: number, Optional: optional}
	copy(call.Args[:], args)
	k.List, k.purposes = append(k.List, call), append(k.purposes, k.purpose)
}

// must adds a call that must not fail.
func (k *Calls) must(number uintptr, args ...uintptr) { k.add(false, number, args...) }

// try adds a call that may fail.
func (k *Calls) try(number uintptr, args ...uintptr) { k.add(true, number, args...) }

// pointer returns the address of what an argument points to, and keeps it until Close.
func pointer[T any](k *Calls, to *T) uintptr {
	k.memory = append(k.memory, to)
	return uintptr(unsafe.Pointer(to))
}

// run makes calls in this thread.
func (k *Calls) run(from, to int) error {
	for i, call := range k.List[from:to] {
		a := call.Args
		if _, _, errno := syscall.RawSyscall6(call.Number, a[0], a[1], a[2], a[3], 0, 0); errno != 0 && !call.Optional {
			return k.Failed(from+i+1, errno)
		}
	}
	runtime.KeepAlive(k)
	return nil
}

// Failed returns the error of a call; the first has the number 1. It is not an error of the program, and
// does not wrap one.
func (k *Calls) Failed(number int, errno syscall.Errno) error {
	return fmt.Errorf("cannot %s: %v", k.purposes[number-1], errno)
}

// Close closes what the calls use. Closing nil does nothing.
func (k *Calls) Close() {
	if k == nil {
		return
	}
	for _, fd := range k.files {
		syscall.Close(fd)
	}
	k.memory = nil
}
