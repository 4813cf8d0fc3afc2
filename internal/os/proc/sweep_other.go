//go:build !linux

package proc

import (
	"context"
	"time"
)

// Sweep does nothing: without a process table, processes of others cannot be found.
func Sweep(context.Context, time.Duration) (Report, error) { return Report{}, nil }
