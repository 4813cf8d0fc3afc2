package proc

import "os/exec"

// Run runs a program that belongs to no run, such as ripgrep or npm, to its end. Like
// everything flowrun starts it has a session of its own and no terminal, and a reaper
// does not take it for what a step left behind.
func Run(c *exec.Cmd) error {
	c.SysProcAttr = newSession(false)
	pid, err := startChild(func() (int, error) {
		if err := c.Start(); err != nil {
			return 0, err
		}
		return c.Process.Pid, nil
	}, true, false)
	if err != nil {
		return err
	}
	defer forgetChild(pid)
	return c.Wait()
}
