package proc

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

func TestState(t *testing.T) {
	me := procid.Self()
	changed := func(change func(*procid.Identity)) procid.Identity {
		i := me
		change(&i)
		return i
	}
	for name, c := range map[string]struct {
		id   procid.Identity
		want procid.Liveness
	}{
		"this process":       {me, procid.Alive},
		"number used again":  {changed(func(i *procid.Identity) { i.Start-- }), procid.Dead},
		"another boot":       {changed(func(i *procid.Identity) { i.Boot = "another" }), procid.Dead},
		"another namespace":  {changed(func(i *procid.Identity) { i.Namespace = "pid:[1]" }), procid.Unknown},
		"no such number":     {changed(func(i *procid.Identity) { i.PID = 1 << 30 }), procid.Dead},
		"unknown start time": {changed(func(i *procid.Identity) { i.Start = 0 }), procid.Unknown},
		"nothing":            {procid.Identity{}, procid.Dead},
	} {
		if got := c.id.State(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// identify returns the Identity of a child of this process.
func identify(t *testing.T, pid int) procid.Identity {
	t.Helper()
	var buf [1024]byte
	e, ok := procid.ReadEntry(pid, buf[:])
	if !ok {
		t.Fatal("no process", pid)
	}
	id := procid.Self()
	id.PID, id.Start = pid, e.Start
	return id
}

// becomes waits until the process has this state in /proc.
func becomes(t *testing.T, pid int, state byte) {
	t.Helper()
	var buf [1024]byte
	waittest.Until(t, fmt.Sprintf("process %d in state %c", pid, state), func() bool {
		e, ok := procid.ReadEntry(pid, buf[:])
		return ok && e.State == state
	})
}

func TestStateOfProcesses(t *testing.T) {
	cmd := exec.Command("sleep", "300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	id := identify(t, pid)
	expect := func(what string, want procid.Liveness) {
		t.Helper()
		if got := id.State(); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	expect("running", procid.Alive)
	syscall.Kill(pid, syscall.SIGSTOP)
	becomes(t, pid, 'T')
	expect("stopped", procid.Alive)
	syscall.Kill(pid, syscall.SIGKILL)
	becomes(t, pid, 'Z')
	expect("zombie", procid.Dead)
	cmd.Wait()
	expect("reaped", procid.Dead)
}

// Start times and Uptime use the same clock.
func TestStartIsUptime(t *testing.T) {
	before := procid.Now()
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id := identify(t, cmd.Process.Pid)
	cmd.Wait()
	if after := procid.Now(); id.Start < before || id.Start > after {
		t.Errorf("started at %d, between %d and %d", id.Start, before, after)
	}
	if me := procid.Self(); me.Start > before || me.PID != os.Getpid() {
		t.Errorf("%+v, now is %d", me, before)
	}
}
