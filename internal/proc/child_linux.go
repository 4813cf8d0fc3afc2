package proc

import (
	"context"
	"errors"
	"os"
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

	// fd is a pidfd in Go's poller. It becomes readable when the process has ended, so waiting
	// holds no thread. Where the kernel has no pidfd, fd is nil and the goroutine of watch closes
	// ended.
	fd    *os.File
	conn  syscall.RawConn
	ended chan struct{}

	mu     sync.Mutex
	reaped bool
	exit   Exit
}

func newChild(g *Group, pid, pidfd int, s Spec) *child {
	c := &child{group: g, pid: pid, step: s.Step, detach: s.Detach}
	if pidfd >= 0 && syscall.SetNonblock(pidfd, true) == nil {
		c.fd = os.NewFile(uintptr(pidfd), "pidfd")
		if conn, err := c.fd.SyscallConn(); err == nil && c.fd.SetReadDeadline(time.Time{}) == nil {
			c.conn = conn
			return c
		}
		c.fd.Close()
		c.fd = nil
	}
	c.ended = make(chan struct{})
	go c.watch()
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

var pastDeadline = time.Unix(1, 0)

// Wait waits in the poller. When ctx is done, the read deadline is set to the past, which ends the
// read.
func (c *child) Wait(ctx context.Context) (Exit, error) {
	if c.conn == nil {
		select {
		case <-c.ended:
			return c.reap(), nil
		case <-ctx.Done():
			return Exit{}, context.Cause(ctx)
		}
	}
	stop := context.AfterFunc(ctx, func() { c.fd.SetReadDeadline(pastDeadline) })
	defer stop()
	done := false
	err := c.conn.Read(func(uintptr) bool {
		done = c.tryReap()
		return done
	})
	switch {
	case done:
		return c.release(), nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Exit{}, context.Cause(ctx)
	}
	return Exit{}, err
}

// tryReap reaps the process if it has ended, stores its exit status, and reports whether it did.
// Safe for concurrent use.
func (c *child) tryReap() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return true
	}
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(c.pid, &status, syscall.WNOHANG, nil)
	for err == syscall.EINTR {
		pid, err = syscall.Wait4(c.pid, &status, syscall.WNOHANG, nil)
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
	if c.fd != nil {
		c.fd.Close()
	}
	return c.exit
}

// reap returns the exit status of a process that has ended, or that was killed and should have
// ended by now.
func (c *child) reap() Exit {
	if !c.tryReap() {
		// The process survived KILL. Stop and Close report it as a survivor.
		return Exit{Code: 128 + int(syscall.SIGKILL), Signal: syscall.SIGKILL}
	}
	return c.release()
}
