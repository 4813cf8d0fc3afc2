package pagefault

import "errors"

// Faults are the page faults of one process, without its children.
type Faults struct {
	Text     int // its code
	ReadOnly int // constants and tables
	Data     int // variables
	Heap     int // the heap of a Go program
	Mappings int // other mappings, such as those of the Go runtime, and stacks
}

// Total returns the sum.
func (f Faults) Total() int { return f.Text + f.ReadOnly + f.Data + f.Heap + f.Mappings }

// ErrUnavailable says that this kernel, or what confines this process, reports no page faults to it.
var ErrUnavailable = errors.New("page faults cannot be counted here: see kernel.perf_event_paranoid and the seccomp filter of the container")
