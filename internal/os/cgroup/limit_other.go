//go:build !linux

package cgroup

import (
	"time"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Limit is a placeholder: this platform cannot limit what a group of processes uses.
type Limit struct{}

// NewLimit always fails on this platform.
func NewLimit(mark string, d procid.Domain, l Limits) (*Limit, error) {
	return nil, confine.Available()
}

// CanLimit always fails on this platform.
func CanLimit(l Limits) error { return confine.Available() }

// JoinFiles returns nil.
func (*Limit) JoinFiles() []string { return nil }

// OutOfMemory returns false.
func (*Limit) OutOfMemory() bool { return false }

// ProcessesDenied returns false.
func (*Limit) ProcessesDenied() bool { return false }

// PeakMemory returns 0.
func (*Limit) PeakMemory() int64 { return 0 }

// CPUTime returns false.
func (*Limit) CPUTime() (user, system time.Duration, ok bool) { return 0, 0, false }

// Remove returns true.
func (*Limit) Remove() bool { return true }

// End does nothing.
func (*Limit) End(kill bool) {}
