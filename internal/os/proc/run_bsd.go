//go:build unix && !linux

package proc

import (
	"os/exec"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// Run runs a program that belongs to no run, such as ripgrep or npm, until it ends. It has a session of its own and no
// terminal.
func Run(c *exec.Cmd, _ procid.Domain) error {
	c.SysProcAttr = newSession(false)
	return c.Run()
}
