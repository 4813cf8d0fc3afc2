package vfork

// Call is a system call. What its arguments point to must be in the heap, and something else must refer to it.
type Call struct {
	Number   uintptr
	Args     [4]uintptr
	Optional bool // it may fail
}
