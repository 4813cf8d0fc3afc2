//go:build !linux

package proc

import "github.com/flowrun/flowrun/internal/procid"

// StillRunning are the processes that owners of runs have left. Here there is no way to know.
func StillRunning([]string) ([]procid.Info, error) { return nil, nil }
