//go:build !linux

package jsworld

// hideMemory does nothing here: only on Linux can a process protect its own memory.
func hideMemory() {}
