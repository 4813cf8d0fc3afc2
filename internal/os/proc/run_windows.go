package proc

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// Run runs a program that belongs to no run, such as ripgrep or npm, until it ends, and ends what it leaves behind. It
// stays in the group of this process, so that Ctrl-C reaches it.
func Run(c *exec.Cmd, _ procid.Domain) error {
	j, err := newJob(true)
	if err != nil {
		return err
	}
	defer j.close()
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED}
	if c.Cancel != nil {
		c.Cancel = func() error { j.kill(); return nil }
	}
	if err := c.Start(); err != nil {
		return err
	}
	if err := j.adopt(c.Process); err != nil {
		return err
	}
	return c.Wait()
}
