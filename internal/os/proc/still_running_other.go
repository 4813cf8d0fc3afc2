//go:build !linux

package proc

import "github.com/flowrun/flowrun/internal/os/procid"

// StillRunning returns nothing: only Linux shows the environment by which the processes would be
// found.
func StillRunning([]string) ([]procid.Info, error) { return nil, nil }
