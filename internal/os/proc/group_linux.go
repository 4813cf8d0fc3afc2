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

	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Group holds the processes that one owner of a run starts from this process. It is a [Host].
type Group struct {
	mark        string // the mark of the processes that it starts
	domain      procid.Domain
	markBelongs func(mark string) bool // reports whether processes with this mark belong to the group; nil: none do
	leafBelongs func(name string) bool // reports whether the processes in a leaf of this name belong to the group; set only if foreign
	foreign     bool                   // the processes were started by another process
	since       uint64                 // when the Group was opened, in clock ticks since boot; older processes do not belong to it
	withoutLeaf bool                   // do not make a leaf; for tests
	setUpOnce   sync.Once
	limits      *limitCalls // of children that end with the run, made when the first one starts

	mu             sync.Mutex
	leaf           *cgroup.Leaf
	exits          *exitQueue
	live           map[*child]struct{}
	leftGroups     map[int]string      // process groups that outlived their step -> path of the step
	detachedGroups map[int]string      // process groups of detached steps -> path of the step
	detachedSteps  map[string]struct{} // paths of detached steps
	stepStopped    bool                // a step was stopped, so processes that lost every sign may be left
	reapTimer      *time.Timer

	abandonedLeaves map[string]*cgroup.Leaf // if foreign: leaves whose makers have ended, by path

	releaseKeeper func() // set by setUp

	snapshots snapshots
}

var _ Host = (*Group)(nil)

// Domain returns the domain of the processes.
func (g *Group) Domain() procid.Domain { return g.domain }

// Open returns a Group whose processes carry the mark (see procid.Mark) in procid.MarkOwner. The
// caller must put it into their environment. With the mark "" no process is found by its mark. A
// Group costs nothing until it starts a process.
func Open(mark string, d procid.Domain) *Group {
	countGroups(1)
	return &Group{mark: mark, domain: d, markBelongs: exactMark(mark), since: procid.Now(), live: map[*child]struct{}{},
		leftGroups: map[int]string{}, detachedGroups: map[int]string{}, detachedSteps: map[string]struct{}{}}
}

// Reopen returns a Group for processes that another process started with the mark and can no longer
// end. Start fails. Close ends all processes that carry the mark, however old, and all processes in
// a leaf that was made for it, except processes that carry the path of a detached step.
func Reopen(mark string, d procid.Domain, detached []string) *Group {
	return reopen(d, exactMark(mark), func(m string) bool { return m == cgroup.LeafMark(mark) && mark != "" }, detached)
}

// Recover is Reopen for everything that any owner of the run left, whatever its epoch, and for
// everything that Sweep would end. A new owner of a run closes it before it starts processes of its
// own. If nothing is left, that costs one read of the process table.
func Recover(run string, d procid.Domain, detached []string) *Group {
	return reopen(d, func(m string) bool { return procid.OfRun(m, run) }, func(m string) bool {
		at, _ := procid.SplitMark(m)
		want, _ := procid.SplitMark(cgroup.LeafMark(procid.Mark(run, 1)))
		return at == want && run != ""
	}, detached)
}

// exactMark returns a function that accepts this mark only. It never accepts "", the mark of
// processes without one.
func exactMark(mark string) func(string) bool {
	return func(m string) bool { return m == mark && m != "" }
}

// reopen returns a Group that ends processes of others: those whose mark is accepted by marked, and
// those in leaves whose mark is accepted by ofLeaf or whose maker has ended.
func reopen(d procid.Domain, marked, ofLeaf func(mark string) bool, detached []string) *Group {
	g := &Group{domain: d, markBelongs: marked, foreign: true, detachedSteps: map[string]struct{}{}}
	g.leafBelongs = func(name string) bool {
		mark, tag, ok := cgroup.ParseLeaf(name)
		return ok && mark != "" && (ofLeaf(mark) || d.Abandoned(tag))
	}
	for _, step := range detached {
		g.detachedSteps[step] = struct{}{}
	}
	return g
}

// reapInterval is how often a reaper reaps dead orphans while steps run.
const reapInterval = time.Second

// setUp makes the leaf, opens the exitQueue, asks for a keeper and starts the timer that reaps orphans. It runs before
// the first process starts.
func (g *Group) setUp() {
	g.exits = openExits()
	if !g.withoutLeaf {
		g.leaf = cgroup.NewLeaf(g.mark, g.domain)
	}
	g.limits = newLimitCalls(g.domain, false)
	if !IsReaper() {
		return
	}
	g.releaseKeeper = keep(g.domain, keeperDelay)
	g.reapTimer = time.AfterFunc(reapInterval, func() {
		reapOrphans()
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.reapTimer != nil {
			g.reapTimer.Reset(reapInterval)
		}
	})
}

// Start starts a process in a session of its own. The process goes into the run's leaf unless it is
// detached, because everything in a leaf is ended together.
func (g *Group) Start(s Spec) (Process, error) {
	if g.foreign {
		return nil, fmt.Errorf("cannot start %q: this group can only stop the processes of another owner", s.Path)
	}
	g.mu.Lock()
	g.setUpOnce.Do(g.setUp)
	leaf := g.leaf
	g.mu.Unlock()
	if s.Detach {
		leaf = nil
	}
	s.domain = g.domain
	pid, pidfd, err := g.startFirst(&s, leaf)
	if leaf != nil && leafRefused(err) {
		if pid, pidfd, err = g.startFirst(&s, nil); err == nil {
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
		g.detachedGroups[pid] = s.Step
		g.detachedSteps[s.Step] = struct{}{}
	}
	g.mu.Unlock()
	return c, nil
}

// startFirst starts the first process of a step.
func (g *Group) startFirst(s *Spec, leaf *cgroup.Leaf) (pid, pidfd int, err error) {
	pid, err = startChild(func(limited bool) (pid int, err error) {
		var limits *limitCalls
		switch {
		case limited && s.outlives():
			limits = newLimitCalls(g.domain, true)
		case limited:
			limits = g.limits
		}
		pid, pidfd, err = fork(s, leaf, limits)
		return pid, err
	}, false)
	return pid, pidfd, err
}

// leafRefused reports whether the leaf may be why a start failed: these are the errors of clone3
// where this user may make a cgroup but not move processes into it.
func leafRefused(err error) bool {
	switch err {
	case syscall.EBUSY, syscall.EOPNOTSUPP, syscall.EACCES, syscall.EPERM, syscall.ENODEV, syscall.ENOSYS, syscall.EINVAL:
		return true
	}
	return false
}

// dropLeaf removes a leaf that accepts no processes, and the Group works without one from then on.
func (g *Group) dropLeaf(l *cgroup.Leaf) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leaf == l && !l.Populated() {
		g.leaf = nil
		l.Remove()
	}
}

// childEnded removes a first process that was reaped. If anything of a step may be left, one system call checks
// whether the process group still has members.
func (g *Group) childEnded(c *child) {
	none := forgetChild(c.pid)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, c)
	if !c.detach && !none && syscall.Kill(-c.pid, 0) != syscall.ESRCH {
		g.leftGroups[c.pid] = c.step
	}
}

// Close ends what is left of the run. See [Host].
func (g *Group) Close(ctx context.Context, grace time.Duration) (Report, error) {
	if g.foreign {
		defer g.removeLeaves()
		return g.endRun(ctx, grace), nil
	}
	defer countGroups(-1)
	g.mu.Lock()
	if g.reapTimer != nil {
		g.reapTimer.Stop()
		g.reapTimer = nil
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
	reapOrphans()
	if g.releaseKeeper != nil {
		g.releaseKeeper()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.exits.close()
	g.exits = nil
	if g.leaf != nil {
		g.leaf.Remove()
		g.leaf = nil
	}
	return report, nil
}

// running returns the first processes that have not been reaped.
func (g *Group) running() []*child {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Keys(g.live))
}

// mayBeLeft reports whether any process of the run may be left. It asks the leaf, or the kernel if
// this process is a reaper; both are cheap. With neither it returns true, and only the process
// table can tell.
func (g *Group) mayBeLeft() bool {
	started := true
	g.setUpOnce.Do(func() { started = false })
	switch {
	case !started:
		return false
	case g.leaf != nil:
		return g.leaf.Populated()
	case IsReaper():
		return !hasNoChildren()
	}
	return true
}

// isExempt reports whether a process must never be ended: this process, the first process of the
// system, and what this program started in other ways.
func isExempt(e *procid.Entry) bool {
	return e.PID <= 1 || e.PID == os.Getpid() || e.Parent == os.Getpid() && (e.Group == syscall.Getpgrp() || startedByRun(e.PID))
}
