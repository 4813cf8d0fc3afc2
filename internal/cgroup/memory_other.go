//go:build !linux

package cgroup

import "github.com/flowrun/flowrun/internal/confine"

// MemoryLimit bounds the memory of processes; there is none on this platform.
type MemoryLimit struct{}

// NewMemoryLimit says that there is none on this platform.
func NewMemoryLimit(mark string, bytes int64) (*MemoryLimit, error) { return nil, confine.Available() }

// JoinFile is empty.
func (*MemoryLimit) JoinFile() string { return "" }

// Exceeded is false.
func (*MemoryLimit) Exceeded() bool { return false }

// Remove is true.
func (*MemoryLimit) Remove() bool { return true }

// End does nothing.
func (*MemoryLimit) End(kill bool) {}
