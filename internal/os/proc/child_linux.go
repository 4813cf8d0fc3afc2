package proc

import (
	"context"
	"sync"
	"syscall"
	"time"
)

// child is the first process of a step.
type child struct {
	group  *Group
	pid    int
	step   string
	detach bool

	pidfd  int           // -1 where the kernel has none
	exits  *exitQueue    // of the Group
	number int32         // in exits; 0: it is not there
	ended  chan struct{} // closed when the process has ended

	mu     sync.Mutex
	reaped bool
	exit   Exit
}

// newChild returns a child whose end is noticed: by the exitQueue of its Group, or by the goroutine
// of watch where that does not work.
func newChild(g *Group, pid, pidfd int, s Spec) *child {
	c := &child{group: g, pid: pid, pidfd: pidfd, exits: g.exits, step: s.Step, detach: s.Detach, ended: make(chan struct{})}
	if c.number = c.exits.add(pidfd, c.ended); c.number == 0 {
		go c.watch()
	}
	return c
}

// watch polls for the end of the process where there is no pidfd. It does not reap: until somebody
// calls Wait or Stop, the pid must stay taken, so that Stop cannot signal another process.
func (c *child) watch() {
	defer close(c.ended)
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		if pid, err := peek(pPID, c.pid); err != nil || pid != 0 {
			return
		}
		time.Sleep(wait)
	}
}

func (c *child) PID() int { return c.pid }

func (c *child) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-c.ended:
	case <-ctx.Done():
		return Exit{}, context.Cause(ctx)
	}
	c.tryReap(0) // a debugger that traces the process may still keep it for a moment
	return c.release(), nil
}

// tryReap reaps the process if it has ended, stores its exit status, and reports whether it did.
// With the option 0 instead of WNOHANG it waits for the end. Safe for concurrent use.
func (c *child) tryReap(option int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return true
	}
	var status syscall.WaitStatus
	var used syscall.Rusage
	pid, err := syscall.Wait4(c.pid, &status, option, &used)
	for err == syscall.EINTR {
		pid, err = syscall.Wait4(c.pid, &status, option, &used)
	}
	switch {
	case err != nil: // ECHILD: other code in this program reaped it
		c.exit = Exit{Code: 1}
	case pid == 0:
		return false
	case status.Signaled():
		c.exit = Exit{Code: 128 + int(status.Signal()), Signal: status.Signal()}
	default:
		c.exit = Exit{Code: status.ExitStatus()}
	}
	c.exit.Usage = usageOf(&used)
	c.reaped = true
	return true
}

// isReaped reports whether the process has been reaped. From then on its pid may belong to another
// process.
func (c *child) isReaped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reaped
}

// release removes the child from its Group, closes the pidfd and returns the exit status. Call it
// once, after the process was reaped.
func (c *child) release() Exit {
	c.group.childEnded(c)
	c.exits.remove(c.number)
	if c.pidfd >= 0 {
		syscall.Close(c.pidfd)
	}
	return c.exit
}

// reap returns the exit status of a process that has ended, or that was killed and should have
// ended by now.
func (c *child) reap() Exit {
	if !c.tryReap(syscall.WNOHANG) {
		// The process survived KILL. Stop and Close report it as a survivor.
		return Exit{Code: 128 + int(syscall.SIGKILL), Signal: syscall.SIGKILL}
	}
	return c.release()
}
