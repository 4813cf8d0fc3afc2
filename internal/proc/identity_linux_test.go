package proc

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/waittest"
)

func TestState(t *testing.T) {
	me := Self()
	changed := func(change func(*Identity)) Identity {
		i := me
		change(&i)
		return i
	}
	for name, c := range map[string]struct {
		id   Identity
		want Liveness
	}{
		"this process":       {me, Alive},
		"number used again":  {changed(func(i *Identity) { i.Start-- }), Dead},
		"another boot":       {changed(func(i *Identity) { i.Boot = "another" }), Dead},
		"another namespace":  {changed(func(i *Identity) { i.Namespace = "pid:[1]" }), Unknown},
		"no such number":     {changed(func(i *Identity) { i.PID = 1 << 30 }), Dead},
		"unknown start time": {changed(func(i *Identity) { i.Start = 0 }), Unknown},
		"nothing":            {Identity{}, Dead},
	} {
		if got := c.id.State(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// identify is the identity of a child of this process.
func identify(t *testing.T, pid int) Identity {
	t.Helper()
	var buf [1024]byte
	e, ok := readEntry(pid, buf[:])
	if !ok {
		t.Fatal("no process", pid)
	}
	id := Self()
	id.PID, id.Start = pid, e.start
	return id
}

// becomes waits until the process is in that state of /proc.
func becomes(t *testing.T, pid int, state byte) {
	t.Helper()
	var buf [1024]byte
	waittest.Until(t, fmt.Sprintf("process %d in state %c", pid, state), func() bool {
		e, ok := readEntry(pid, buf[:])
		return ok && e.state == state
	})
}

func TestStateOfProcesses(t *testing.T) {
	cmd := exec.Command("sleep", "300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	id := identify(t, pid)
	expect := func(what string, want Liveness) {
		t.Helper()
		if got := id.State(); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	expect("running", Alive)
	syscall.Kill(pid, syscall.SIGSTOP)
	becomes(t, pid, 'T')
	expect("stopped", Alive)
	syscall.Kill(pid, syscall.SIGKILL)
	becomes(t, pid, 'Z')
	expect("zombie", Dead)
	cmd.Wait()
	expect("reaped", Dead)
}

// Start times are on the clock that Uptime shows.
func TestStartIsUptime(t *testing.T) {
	before := now()
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id := identify(t, cmd.Process.Pid)
	cmd.Wait()
	if after := now(); id.Start < before || id.Start > after {
		t.Errorf("started at %d, between %d and %d", id.Start, before, after)
	}
	if me := Self(); me.Start > before || me.PID != os.Getpid() {
		t.Errorf("%+v, now is %d", me, before)
	}
}
