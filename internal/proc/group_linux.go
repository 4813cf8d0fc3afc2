package proc

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Group is the processes of one run, started by this process. It is a [Host].
type Group struct {
	run    string
	since  uint64 // when the Group was opened; what is older is not of the run
	noLeaf bool   // do not make one; tests see how it is without
	first  sync.Once

	mu       sync.Mutex
	leaf     *leaf
	live     map[*child]struct{}
	left     map[int]string      // process groups that outlived their step, with its path
	detached map[int]string      // process groups of detached steps, with the path
	loose    map[string]struct{} // paths of detached steps
	suspect  bool                // a step was stopped: what shed every mark may be about
	sweep    *time.Timer

	looks looks
}

var _ Host = (*Group)(nil)

// Open makes the Group of a run. It costs nothing until something is started.
func Open(run string) *Group {
	opened(1)
	return &Group{run: run, since: now(), live: map[*child]struct{}{},
		left: map[int]string{}, detached: map[int]string{}, loose: map[string]struct{}{}}
}

// sweepEvery is how often a reaper takes dead orphans away while steps run.
const sweepEvery = time.Second

// begin makes what the first process needs.
func (g *Group) begin() {
	if !g.noLeaf {
		g.leaf = newLeaf()
	}
	if !IsReaper() {
		return
	}
	g.sweep = time.AfterFunc(sweepEvery, func() {
		sweepOrphans()
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.sweep != nil {
			g.sweep.Reset(sweepEvery)
		}
	})
}

// Start starts a process in a process group of its own, and in the run's leaf
// unless it is detached: a leaf ends as a whole.
func (g *Group) Start(s Spec) (Process, error) {
	g.mu.Lock()
	g.first.Do(g.begin)
	leaf := g.leaf
	g.mu.Unlock()
	if s.Detach {
		leaf = nil
	}
	pidfd := -1
	attr := syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Sys: &syscall.SysProcAttr{Setpgid: true, PidFD: &pidfd}}
	if leaf != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, leaf.fd()
	}
	var files [3]uintptr
	for i, f := range s.Files {
		files[i] = f.Fd()
	}
	attr.Files = files[:]
	fork := func() (int, error) { return syscall.ForkExec(s.Path, s.Args, &attr) }
	pid, err := enroll(fork)
	if leaf != nil && leafRefused(err) {
		attr.Sys.UseCgroupFD = false
		if pid, err = enroll(fork); err == nil {
			g.dropLeaf(leaf)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot start %q: %w", s.Path, err)
	}
	c := newChild(g, pid, pidfd, s)
	g.mu.Lock()
	g.live[c] = struct{}{}
	if s.Detach {
		g.detached[pid] = s.Step
		g.loose[s.Step] = struct{}{}
	}
	g.mu.Unlock()
	return c, nil
}

// leafRefused says whether a failed start may be the leaf's fault: the errors of
// clone3 where one may make a cgroup but not move into it.
func leafRefused(err error) bool {
	switch err {
	case syscall.EBUSY, syscall.EOPNOTSUPP, syscall.EACCES, syscall.EPERM, syscall.ENODEV, syscall.ENOSYS, syscall.EINVAL:
		return true
	}
	return false
}

// dropLeaf goes on without a leaf that takes no processes in.
func (g *Group) dropLeaf(l *leaf) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leaf == l && !l.populated() {
		g.leaf = nil
		l.remove()
	}
}

// ended is told of every first process that was reaped. One question to the
// kernel says whether its process group lives on.
func (g *Group) ended(c *child) {
	retire(c.pid)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, c)
	if !c.detach && syscall.Kill(-c.pid, 0) != syscall.ESRCH {
		g.left[c.pid] = c.step
	}
}

// Close ends what is left of the run. See [Host].
func (g *Group) Close(ctx context.Context, grace time.Duration) (Report, error) {
	defer opened(-1)
	g.mu.Lock()
	if g.sweep != nil {
		g.sweep.Stop()
		g.sweep = nil
	}
	running := len(g.live) > 0
	g.mu.Unlock()
	var report Report
	if running || g.mayBeLeft() {
		report = g.endRun(ctx, grace)
	}
	for _, c := range g.running() {
		c.reap()
	}
	sweepOrphans()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leaf != nil {
		g.leaf.remove()
		g.leaf = nil
	}
	return report, nil
}

func (g *Group) running() []*child {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Keys(g.live))
}

// mayBeLeft asks cheap questions first. Without a leaf and without being a reaper
// only a look can tell.
func (g *Group) mayBeLeft() bool {
	started := true
	g.first.Do(func() { started = false })
	switch {
	case !started:
		return false
	case g.leaf != nil:
		return g.leaf.populated()
	case IsReaper():
		return !childless()
	}
	return true
}

// spare says which processes are never touched: this one, the system's first, and
// this program's own children, which stay in its process group.
func spare(e *entry) bool {
	return e.PID <= 1 || e.PID == os.Getpid() || e.ppid == os.Getpid() && e.pgid == syscall.Getpgrp()
}

// Recover makes a Group for what another process started for the run and can no
// longer end: its Close looks for everything that carries the run's marker,
// however old, but the marker of a detached step.
func Recover(run string, detached []string) *Group {
	g := Open(run)
	g.since, g.noLeaf = 0, true
	for _, step := range detached {
		g.loose[step] = struct{}{}
	}
	g.first.Do(func() {}) // something was started
	return g
}
