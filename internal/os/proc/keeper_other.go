//go:build !linux

package proc

import "github.com/flowrun/flowrun/internal/os/procid"

// KeeperMain does nothing: without Sweep there is no keeper.
func KeeperMain() {}

// Keep does nothing: without Sweep there is no keeper.
func Keep(procid.Domain) (release func()) { return func() {} }
