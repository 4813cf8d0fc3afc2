package proc

import (
	"os/exec"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// Run runs a program that belongs to no run, such as ripgrep or npm, until it ends. Like everything
// that flowrun starts, it has a session of its own and no terminal. A reaper does not mistake it
// for something that a step left behind. If this process is killed, Sweep of the domain ends it.
func Run(c *exec.Cmd, d procid.Domain) error {
	c.SysProcAttr = newSession(false)
	pid, err := startChild(func(limited bool) (int, error) {
		if limited {
			defer d.SetChildLimits(false)()
		}
		if err := c.Start(); err != nil {
			return 0, err
		}
		return c.Process.Pid, nil
	}, true)
	if err != nil {
		return err
	}
	defer forgetChild(pid)
	return c.Wait()
}
