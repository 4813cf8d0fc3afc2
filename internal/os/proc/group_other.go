//go:build !linux

package proc

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Group holds the processes that one owner of a run starts from this process. It is a [Host].
type Group struct {
	mu         sync.Mutex
	live       map[*child]struct{}
	domain     procid.Domain
	leftGroups map[int]procid.Info // process groups that outlived their step
}

var _ Host = (*Group)(nil)

// Domain returns the domain of the processes.
func (g *Group) Domain() procid.Domain { return g.domain }

// Open returns the Group of one owner of a run. The mark is not used here.
func Open(mark string, d procid.Domain) *Group {
	return &Group{domain: d, live: map[*child]struct{}{}, leftGroups: map[int]procid.Info{}}
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

// child is the first process of a step. A goroutine waits for it.
type child struct {
	group   *Group
	process *os.Process
	spec    Spec
	done    chan struct{}
	exit    Exit // valid once done is closed
}

// Start starts a process, on Unix in a session of its own.
func (g *Group) Start(s Spec) (Process, error) {
	if s.Confine != nil {
		return nil, fmt.Errorf("cannot start %q confined: %w", s.Path, confine.Available())
	}
	p, err := os.StartProcess(s.Path, s.Args, &os.ProcAttr{
		Dir: s.Dir, Env: s.Env, Files: s.Files[:], Sys: newSession(s.TTY)})
	if err != nil {
		return nil, fmt.Errorf("cannot start %q: %w", s.Path, err)
	}
	c := &child{group: g, process: p, spec: s, done: make(chan struct{})}
	g.mu.Lock()
	g.live[c] = struct{}{}
	g.mu.Unlock()
	go c.watch()
	return c, nil
}

func (c *child) watch() {
	defer close(c.done)
	state, err := c.process.Wait()
	c.exit = Exit{Code: 1}
	if err == nil {
		c.exit = exitOf(state)
	}
	g := c.group
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, c)
	if !c.spec.Detach && groupLives(c.PID()) {
		g.leftGroups[c.PID()] = procid.Info{PID: c.PID(), Name: c.spec.Args[0], Step: c.spec.Step}
	}
}

func (c *child) PID() int { return c.process.Pid }

// Wait waits until the process has ended or ctx is done. See [Process].
func (c *child) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-c.done:
		return c.exit, nil
	case <-ctx.Done():
		return Exit{}, context.Cause(ctx)
	}
}

// Stop ends the process and its group. See [Process].
func (c *child) Stop(grace time.Duration, force <-chan struct{}) (Exit, []procid.Info) {
	if grace > 0 {
		signalGroup(c.process, syscall.SIGTERM)
		select {
		case <-c.done:
		case <-force:
		case <-time.After(grace):
		}
	}
	signalGroup(c.process, syscall.SIGKILL)
	select {
	case <-c.done:
		return c.exit, nil
	case <-time.After(MaxKillTime):
		return Exit{Code: 137, Signal: syscall.SIGKILL}, []procid.Info{{PID: c.PID(), Name: c.spec.Args[0], Step: c.spec.Step}}
	}
}

// Close ends what is left of the run. See [Host].
func (g *Group) Close(ctx context.Context, grace time.Duration) (Report, error) {
	g.mu.Lock()
	var running []*child
	for c := range g.live {
		running = append(running, c)
	}
	g.mu.Unlock()
	var report Report
	for _, c := range running {
		_, survivors := c.Stop(grace, ctx.Done())
		report.Escaped = append(report.Escaped, survivors...)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for pid, info := range g.leftGroups {
		if killGroup(pid) {
			report.Ended = append(report.Ended, info)
		}
	}
	return report, nil
}

// IsReaper returns false: only Linux has reapers other than the first process.
func IsReaper() bool { return false }
