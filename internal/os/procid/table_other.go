//go:build !linux

package procid

import "errors"

// ErrNotMounted is a problem of Linux.
var ErrNotMounted = errors.New("/proc is not mounted")

// CheckTable returns nil: only Linux has a process table in /proc.
func CheckTable() error { return nil }
