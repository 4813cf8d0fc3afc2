//go:build !linux

package proc

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Group holds the processes that one owner of a run starts from this process. It is a [Host].
type Group struct {
	mu     sync.Mutex
	live   map[*child]struct{}
	domain procid.Domain
	left   []*child // whose first process has ended, and others have not
}

var _ Host = (*Group)(nil)

// Domain returns the domain of the processes.
func (g *Group) Domain() procid.Domain { return g.domain }

// Open returns the Group of one owner of a run. The mark is not used here.
func Open(mark string, d procid.Domain) *Group {
	return &Group{domain: d, live: map[*child]struct{}{}}
}

// Reopen returns an empty Group: without a process table, processes of others cannot be found.
func Reopen(mark string, d procid.Domain, detached []string) *Group { return Open(mark, d) }

// Recover returns an empty Group: without a process table, processes of others cannot be found.
func Recover(run string, d procid.Domain, detached []string) *Group { return Open(run, d) }

// BecomeReaper returns an error: only Linux lets a process inherit orphans.
func BecomeReaper() error {
	return fmt.Errorf("cannot become a subreaper: not available on this platform")
}

// ResignReaper does nothing: only Linux lets a process inherit orphans.
func ResignReaper() {}

// child is a process of a step that was started here, with what it starts. A goroutine waits for it.
type child struct {
	*tree
	group *Group
	spec  Spec
	done  chan struct{}
	exit  Exit // valid once done is closed
}

// Start starts a process, on Unix in a session and on Windows in a job of its own.
func (g *Group) Start(s Spec) (Process, error) {
	if s.Confine != nil {
		return nil, fmt.Errorf("cannot start %q confined: %w", s.Path, confine.Available())
	}
	t, err := startTree(s)
	if err != nil {
		return nil, fmt.Errorf("cannot start %q: %w", s.Path, err)
	}
	c := &child{tree: t, group: g, spec: s, done: make(chan struct{})}
	g.mu.Lock()
	g.live[c] = struct{}{}
	g.mu.Unlock()
	go c.watch()
	return c, nil
}

func (c *child) watch() {
	defer close(c.done)
	c.exit = c.wait()
	g := c.group
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, c)
	switch {
	case c.spec.Detach && c.spec.Bound: // ends with this process
	case c.spec.Detach || c.leftovers() == nil:
		c.release()
	default:
		g.left = append(g.left, c)
	}
}

func (c *child) leftovers() []procid.Info { return c.left(c.spec) }

func (c *child) PID() int { return c.Pid }

// Wait waits until the process has ended or ctx is done. See [Process].
func (c *child) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-c.done:
		return c.exit, nil
	case <-ctx.Done():
		return Exit{}, context.Cause(ctx)
	}
}

// Stop ends the process and what it has started. See [Process].
func (c *child) Stop(grace time.Duration, force <-chan struct{}) (Exit, []procid.Info) {
	if grace > 0 && c.ask() {
		select {
		case <-c.done:
		case <-force:
		case <-time.After(grace):
		}
	}
	survivors := c.end()
	select {
	case <-c.done:
		return c.exit, survivors
	default:
		return Exit{Code: 137, Signal: syscall.SIGKILL}, survivors
	}
}

// end kills all processes until none is left, and returns those that are.
func (c *child) end() []procid.Info {
	for until := time.Now().Add(MaxKillTime); ; time.Sleep(killPause) {
		c.kill()
		left := c.leftovers()
		if left == nil || time.Now().After(until) {
			return left
		}
	}
}

// killPause is the time between two looks at processes that are being ended.
const killPause = 5 * time.Millisecond

// Close ends what is left of the run. See [Host].
func (g *Group) Close(ctx context.Context, grace time.Duration) (Report, error) {
	g.mu.Lock()
	running := slices.Collect(maps.Keys(g.live))
	g.mu.Unlock()
	var report Report
	for _, c := range running {
		_, survivors := c.Stop(grace, ctx.Done())
		report.Escaped = append(report.Escaped, survivors...)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.left {
		report.Ended = append(report.Ended, c.leftovers()...)
		report.Escaped = append(report.Escaped, c.end()...)
		c.release()
	}
	g.left = nil
	return report, nil
}

// IsReaper returns false: only Linux has reapers other than the first process.
func IsReaper() bool { return false }
