//go:build !linux

package proc

import (
	"os/exec"
	"runtime"
)

// Run runs a program that belongs to no run, such as ripgrep or npm, to its end. Where
// there are sessions it has one of its own, and no terminal.
func Run(c *exec.Cmd) error {
	if runtime.GOOS != "windows" { // where a group of its own would not hear Ctrl-C
		c.SysProcAttr = newSession(false)
	}
	return c.Run()
}
