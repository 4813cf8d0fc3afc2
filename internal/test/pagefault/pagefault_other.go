//go:build !linux

package pagefault

import "os/exec"

// Count returns ErrUnavailable: only Linux reports page faults in this way.
func Count(*exec.Cmd) (Faults, error) { return Faults{}, ErrUnavailable }
