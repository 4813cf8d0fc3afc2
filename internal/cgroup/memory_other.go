//go:build !linux

package cgroup

import "github.com/flowrun/flowrun/internal/confine"

// MemoryLimit is a placeholder: this platform cannot limit the memory of a group of processes.
type MemoryLimit struct{}

// NewMemoryLimit always fails on this platform.
func NewMemoryLimit(mark string, bytes int64) (*MemoryLimit, error) { return nil, confine.Available() }

// JoinFile returns "".
func (*MemoryLimit) JoinFile() string { return "" }

// Exceeded returns false.
func (*MemoryLimit) Exceeded() bool { return false }

// Remove returns true.
func (*MemoryLimit) Remove() bool { return true }

// End does nothing.
func (*MemoryLimit) End(kill bool) {}
