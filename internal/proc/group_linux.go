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

	"github.com/flowrun/flowrun/internal/cgroup"
	"github.com/flowrun/flowrun/internal/procid"
)

// Group is the processes that one owner of a run starts, in this process. It is a
// [Host].
type Group struct {
	mark        string                 // of what is started
	markBelongs func(mark string) bool // says whether a process with that mark belongs; nil: none does
	leafBelongs func(name string) bool // says whether what is in a leaf of that name belongs; only where foreign
	foreign     bool                   // another process started everything, long ago
	since       uint64                 // when the Group was opened; what is older does not belong
	noLeaf      bool                   // do not make one; tests see how it is without
	setUpOnce   sync.Once

	mu             sync.Mutex
	leaf           *cgroup.Leaf
	live           map[*child]struct{}
	leftGroups     map[int]string      // process groups that outlived their step, with its path
	detachedGroups map[int]string      // process groups of detached steps, with the path
	detachedSteps  map[string]struct{} // paths of detached steps
	stepStopped    bool                // a step was stopped: what shed every mark may be about
	reapTimer      *time.Timer

	abandonedLeaves map[string]*cgroup.Leaf // where foreign: leaves of those who are gone, by their path

	snapshots snapshots
}

var _ Host = (*Group)(nil)

// Open makes a Group whose processes carry the mark (see Mark) in MarkOwner; the
// caller puts it into their environment. With "" none is found by its mark. A Group
// costs nothing until something is started.
func Open(mark string) *Group {
	countGroups(1)
	return &Group{mark: mark, markBelongs: exactMark(mark), since: procid.Now(), live: map[*child]struct{}{},
		leftGroups: map[int]string{}, detachedGroups: map[int]string{}, detachedSteps: map[string]struct{}{}}
}

// Reopen makes a Group for what another process started under the mark and can no
// longer end. Nothing may be started in it; its Close ends what carries the mark,
// however old, and what is in a leaf made for it, but not what carries the path of a
// detached step.
func Reopen(mark string, detached []string) *Group {
	return reopen(exactMark(mark), func(m string) bool { return m == cgroup.LeafMark(mark) && mark != "" }, detached)
}

// Recover is Reopen for everything that any owner of the run left, whatever its
// epoch, and for all that Sweep would end. A new owner closes it before it starts
// anything itself. Where nothing is left that costs one look at the process table.
func Recover(run string, detached []string) *Group {
	return reopen(func(m string) bool { return procid.OfRun(m, run) }, func(m string) bool {
		at, _ := procid.SplitMark(m)
		want, _ := procid.SplitMark(cgroup.LeafMark(procid.Mark(run, 1)))
		return at == want && run != ""
	}, detached)
}

// exactMark counts one mark; "" is that of processes without one and never counts.
func exactMark(mark string) func(string) bool {
	return func(m string) bool { return m == mark && m != "" }
}

func reopen(marked, ofLeaf func(mark string) bool, detached []string) *Group {
	g := &Group{markBelongs: marked, foreign: true, detachedSteps: map[string]struct{}{}}
	g.leafBelongs = func(name string) bool {
		mark, tag, ok := cgroup.ParseLeaf(name)
		return ok && mark != "" && (ofLeaf(mark) || procid.Abandoned(tag))
	}
	for _, step := range detached {
		g.detachedSteps[step] = struct{}{}
	}
	return g
}

// reapInterval is how often a reaper takes dead orphans away while steps run.
const reapInterval = time.Second

// setUp makes what the first process needs.
func (g *Group) setUp() {
	if !g.noLeaf {
		g.leaf = cgroup.NewLeaf(g.mark)
	}
	if !IsReaper() {
		return
	}
	g.reapTimer = time.AfterFunc(reapInterval, func() {
		reapOrphans()
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.reapTimer != nil {
			g.reapTimer.Reset(reapInterval)
		}
	})
}

// Start starts a process in a session of its own, and in the run's leaf unless it is
// detached: a leaf ends as a whole.
func (g *Group) Start(s Spec) (Process, error) {
	if g.foreign {
		return nil, fmt.Errorf("cannot start %q: this group is only to end what another process started; open one", s.Path)
	}
	g.mu.Lock()
	g.setUpOnce.Do(g.setUp)
	leaf := g.leaf
	g.mu.Unlock()
	if s.Detach {
		leaf = nil
	}
	pidfd := -1
	attr := syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Sys: newSession(s.TTY)}
	attr.Sys.PidFD = &pidfd
	if leaf != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, leaf.FD()
	}
	var files [3]uintptr
	for i, f := range s.Files {
		files[i] = f.Fd()
	}
	attr.Files = files[:]
	fork := func() (int, error) { return syscall.ForkExec(s.Path, s.Args, &attr) }
	pid, err := startChild(fork, false, s.Detach && !s.Bound)
	if leaf != nil && leafRefused(err) {
		attr.Sys.UseCgroupFD = false
		if pid, err = startChild(fork, false, s.Detach && !s.Bound); err == nil {
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
func (g *Group) dropLeaf(l *cgroup.Leaf) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leaf == l && !l.Populated() {
		g.leaf = nil
		l.Remove()
	}
}

// childEnded is told of every first process that was reaped. One question to the
// kernel says whether its process group lives on.
func (g *Group) childEnded(c *child) {
	forgetChild(c.pid)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, c)
	if !c.detach && syscall.Kill(-c.pid, 0) != syscall.ESRCH {
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
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leaf != nil {
		g.leaf.Remove()
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

// isExempt says which processes are never touched: this one, the system's first, and
// what this program started in other ways.
func isExempt(e *procid.Entry) bool {
	return e.PID <= 1 || e.PID == os.Getpid() || e.Parent == os.Getpid() && (e.Group == syscall.Getpgrp() || startedByRun(e.PID))
}
