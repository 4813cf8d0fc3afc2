package terminal

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// A step whose program has ended does not wait for input, even before this process has noticed the end.
func TestEndedStepAsksNothing(t *testing.T) {
	c := exec.Command("true")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	leader := c.Process.Pid
	waittest.Until(t, "the end of the program", func() bool {
		e, ok := procid.ReadEntry(leader, make([]byte, 4<<10))
		return ok && e.Dead()
	})
	if !isBusy(leader) {
		t.Error("a program that has ended waits for input")
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if !isBusy(leader) {
		t.Error("a program that is gone waits for input")
	}
}
