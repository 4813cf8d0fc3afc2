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

	// fd is a pidfd in Go's poller, readable when the process has ended: waiting
	// holds no thread. Where the kernel has none, gone is closed by a goroutine
	// that asks again and again.
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

// watch waits without a pidfd. It peeks only: reaping is for the one who asks, so
// that Stop can keep the process's number taken.
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

var longAgo = time.Unix(1, 0)

// Wait waits in the poller. A done context moves the read deadline into the past.
func (c *child) Wait(ctx context.Context) (Exit, error) {
	if c.conn == nil {
		select {
		case <-c.ended:
			return c.reap(), nil
		case <-ctx.Done():
			return Exit{}, context.Cause(ctx)
		}
	}
	stop := context.AfterFunc(ctx, func() { c.fd.SetReadDeadline(longAgo) })
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

// tryReap takes the process's exit status if it has ended.
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
	case err != nil: // ECHILD: something else in the program reaped it
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

func (c *child) isReaped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reaped
}

// release tells the Group and gives the pidfd back.
func (c *child) release() Exit {
	c.group.childEnded(c)
	if c.fd != nil {
		c.fd.Close()
	}
	return c.exit
}

// reap takes the exit status of a process that has ended or is about to.
func (c *child) reap() Exit {
	if !c.tryReap() {
		// It would not die: what Stop and Close return says so.
		return Exit{Code: 128 + int(syscall.SIGKILL), Signal: syscall.SIGKILL}
	}
	return c.release()
}
