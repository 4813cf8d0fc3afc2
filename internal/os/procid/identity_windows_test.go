package procid

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/windows"
)

func TestStateOfOthers(t *testing.T) {
	c := exec.Command(os.Getenv("COMSPEC"), "/d", "/c", "pause")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var start uint64
	if err := c.Process.WithHandle(func(h uintptr) { start, err = startOf(windows.Handle(h)) }); err != nil {
		t.Fatal(err)
	}
	other := Identity{PID: c.Process.Pid, Start: start}
	if got := other.State(); err != nil || got != Alive {
		t.Errorf("a process that waits: %v, %v", got, err)
	}
	if got := (Identity{PID: other.PID, Start: start + 1}).State(); got != Dead {
		t.Errorf("a process whose pid was reused: %v", got)
	}
	in.Close()
	c.Wait()
	if got := other.State(); got != Dead {
		t.Errorf("a process that has ended: %v", got)
	}
}
