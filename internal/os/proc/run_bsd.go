//go:build !linux

package proc

import (
	"os/exec"
	"runtime"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// Run runs a program that belongs to no run, such as ripgrep or npm, until it ends. On Unix it has
// a session of its own and no terminal.
func Run(c *exec.Cmd, _ procid.Domain) error {
	if runtime.GOOS != "windows" { // in a group of its own it would not get Ctrl-C
		c.SysProcAttr = newSession(false)
	}
	return c.Run()
}
