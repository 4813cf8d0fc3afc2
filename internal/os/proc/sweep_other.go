//go:build !linux

package proc

import (
	"context"
	"time"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// Sweep does nothing: without a process table, processes of others cannot be found.
func Sweep(context.Context, procid.Domain, time.Duration) (Report, error) { return Report{}, nil }
