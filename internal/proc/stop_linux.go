package proc

import (
	"context"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/cgroup"
	"github.com/flowrun/flowrun/internal/procid"
)

// hunt is the ending of something: a step, or all that is left of a run. The
// difference is only what a look finds.
type hunt struct {
	look    func() []procid.Entry // the living that are to end
	group   int                   // a process group whose leader is not reaped; 0 for none
	leaves  []*cgroup.Leaf        // to freeze when forks outrun the looks
	atOnce  bool                  // nothing but what is to end is in the leaves: kill them as wholes
	settled func() bool           // false while it cannot be over, which spares a look; may be nil
}

// Pauses between two looks.
const (
	shortest = time.Millisecond
	longest  = 50 * time.Millisecond
)

// end is the stop ladder. What would not die comes back, and what was found first.
func (h *hunt) end(grace time.Duration, force <-chan struct{}) (found, survivors []procid.Entry) {
	found = h.look()
	if len(found) == 0 && h.over() {
		return nil, nil
	}
	if grace > 0 && h.ask(found, grace, force) {
		return found, nil
	}
	return found, h.kill()
}

func (h *hunt) over() bool { return h.settled == nil || h.settled() }

// ask sends TERM and waits. It says whether everything went. What is found later is
// told as well when it has lost its parent: that one was told just after it had
// forked. A child whose parent lives may be there to clean up.
func (h *hunt) ask(found []procid.Entry, grace time.Duration, force <-chan struct{}) bool {
	h.killGroup(syscall.SIGTERM)
	told := map[int]bool{}
	for i := range found {
		told[found[i].PID] = true
		if found[i].Group != h.group { // the group has been told already
			send(&found[i], syscall.SIGTERM)
		}
		if found[i].State == 'T' {
			send(&found[i], syscall.SIGCONT)
		}
	}
	deadline := time.Now().Add(grace)
	for pause := shortest; ; pause = min(2*pause, longest) {
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		select {
		case <-force:
			return false
		case <-time.After(min(pause, left)):
		}
		if !h.over() {
			continue
		}
		rest := h.look()
		if len(rest) == 0 {
			return true
		}
		for i := range rest {
			if e := &rest[i]; !told[e.PID] && !slices.ContainsFunc(rest, func(up procid.Entry) bool { return up.PID == e.Parent }) {
				told[e.PID] = true
				send(e, syscall.SIGTERM)
			}
		}
	}
}

// kill sends KILL until a look finds nothing. After a few rounds something forks
// faster than we look, so it is frozen first. A machine may be so busy that a look
// takes as long as all may take: the last rounds are had in any case, because what has
// just been killed is no survivor.
func (h *hunt) kill() (survivors []procid.Entry) {
	const (
		patience = 3  // rounds
		least    = 10 // rounds; they pause for 0.2 s in all
	)
	deadline := time.Now().Add(KillBound - KillBound/4)
	pause := shortest
	for round := 0; ; round++ {
		for _, l := range h.leaves {
			if h.atOnce {
				_ = l.Kill() // where it cannot be, its processes are killed one by one
			}
			if round >= patience {
				l.Freeze()
			}
		}
		h.killGroup(syscall.SIGKILL)
		survivors = h.look()
		for i := range survivors {
			send(&survivors[i], syscall.SIGKILL)
		}
		for _, l := range h.leaves {
			if round >= patience {
				l.Thaw()
			}
		}
		if len(survivors) == 0 || round >= least && time.Now().After(deadline) {
			return survivors
		}
		time.Sleep(pause)
		pause = min(2*pause, longest)
	}
}

// killGroup signals the process group as one: no fork in it can slip through.
func (h *hunt) killGroup(sig syscall.Signal) {
	if h.group > 0 {
		syscall.Kill(-h.group, sig)
	}
}

// Stop ends the step. See [Process].
func (c *child) Stop(grace time.Duration, force <-chan struct{}) (Exit, []procid.Info) {
	if c.ended() {
		return c.exit, nil // its number is no longer its own
	}
	g := c.group
	g.mu.Lock()
	g.suspect = true
	g.mu.Unlock()
	trail := newTrail(g.marked, c.step)
	h := &hunt{
		group:   c.pid,
		leaves:  g.own(),
		settled: func() bool { pid, err := peek(pPID, c.pid); return err != nil || pid != 0 },
		look: func() []procid.Entry {
			look := g.looks.fresh(g.since)
			c.root(trail, look)
			return trail.follow(look, spare)
		},
	}
	_, survivors := h.end(grace, force)
	for i := 0; i < 20 && !c.tryReap(); i++ { // killed, but not a zombie yet
		time.Sleep(shortest)
	}
	return c.reap(), infos(survivors)
}

// root adds the first process to a trail. Its number is still its own: nobody has
// reaped it.
func (c *child) root(t *trail, look procid.Table) {
	for i := range look {
		if look[i].PID == c.pid {
			t.add(&look[i])
		}
	}
}

// endRun ends what is left of the run.
func (g *Group) endRun(ctx context.Context, grace time.Duration) Report {
	trail, loose := g.trails()
	h := &hunt{leaves: g.own(), atOnce: true}
	h.look = func() []procid.Entry {
		list := g.lookAll(trail, loose)
		if g.foreign {
			h.leaves = g.found()
		}
		return list
	}
	found, survivors := h.end(grace, ctx.Done())
	return Report{Ended: infos(without(found, survivors)), Escaped: infos(append(survivors, g.doubtful(trail, loose)...))}
}

// own is the leaf of this Group, if there is one.
func (g *Group) own() []*cgroup.Leaf {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leaf == nil {
		return nil
	}
	return []*cgroup.Leaf{g.leaf}
}

// trails are what is known of the run, and of its detached steps, before a look.
func (g *Group) trails() (run, loose *trail) {
	g.mu.Lock()
	defer g.mu.Unlock()
	run, loose = newTrail(g.marked, ""), newTrail(nil, "")
	for pid := range g.left {
		run.leaders[pid] = reaped
	}
	for pid := range g.detached {
		loose.leaders[pid] = reaped
	}
	return run, loose
}

// lookAll finds everything of the run that lives, but what detached steps left.
func (g *Group) lookAll(run, loose *trail) []procid.Entry {
	look := g.looks.fresh(g.since)
	var above map[int]bool
	if g.foreign {
		look, above = g.born(run, look)
	}
	g.mu.Lock()
	var inside map[int]bool
	if g.leaf != nil {
		inside = g.leaf.PIDs()
	}
	free := len(g.loose) > 0
	for i := range look {
		if _, ok := g.loose[look[i].Step]; ok && g.marked(look[i].Mark) {
			loose.add(&look[i])
		}
	}
	for c := range g.live {
		if !c.detach {
			c.root(run, look)
		} else {
			c.root(loose, look)
		}
	}
	g.mu.Unlock()
	loose.follow(look, spare)
	// With a detached step about, an orphan without any mark may be that step's:
	// only the leaf, which detached steps are not in, tells them apart.
	claim := !g.foreign && alone() && !free
	for i := range look {
		e := &look[i]
		if inside[e.PID] || claim && e.Parent == os.Getpid() && !spare(e) {
			run.add(e)
		}
	}
	return run.follow(look, func(e *procid.Entry) bool {
		_, kept := loose.seen[e.PID]
		return kept || spare(e) || above[e.PID]
	})
}

// doubtful are processes that may be the run's and carry no mark: orphans of this
// user that began while the run lasted. They are asked for only where something
// was stopped and neither a leaf nor a reaper can tell, and they are not killed.
func (g *Group) doubtful(run, loose *trail) []procid.Entry {
	g.mu.Lock()
	ask := g.suspect && g.leaf == nil
	g.mu.Unlock()
	if !ask || IsReaper() {
		return nil
	}
	look := g.looks.fresh(g.since)
	above, orphans := ancestors(look), newTrail(nil, "")
	for i := range look {
		e := &look[i]
		if above[e.Parent] && e.Start >= g.since && e.Mark == "" && procid.SameUser(e.PID) {
			orphans.add(e)
		}
	}
	return orphans.follow(look, func(e *procid.Entry) bool {
		_, known := run.seen[e.PID]
		_, kept := loose.seen[e.PID]
		return known || kept || e.Start < g.since || spare(e)
	})
}

// birthBound is how long a fork may take to begin its program. It takes far less
// than a millisecond, unless nothing gets a processor.
const birthBound = 2 * time.Second

// born adopts what is left, and waits until every other fork of a dead engine has begun
// its program, and looks again: not before then does it carry a mark. Where marks do not
// count there is nothing to wait for.
func (g *Group) born(run *trail, look procid.Table) (_ procid.Table, above map[int]bool) {
	for end := time.Now().Add(birthBound); ; look = g.looks.fresh(g.since) {
		above = ancestors(look)
		g.adopt(run, look, above)
		doubtful := slices.DeleteFunc(slices.Clone(look), func(e procid.Entry) bool { return run.seen[e.PID] == e.Start })
		if g.marked == nil || !unborn(doubtful) || time.Now().After(end) {
			return look, above
		}
		time.Sleep(shortest)
	}
}

// unborn says whether there is a process that an engine forked before it died, and
// that has not begun its program yet. Until then it has the engine's name, which is
// this program's. For a moment after that it has no environment.
func unborn(look procid.Table) bool {
	own := slices.IndexFunc(look, func(e procid.Entry) bool { return e.PID == os.Getpid() })
	if own < 0 {
		return false
	}
	above, recent := ancestors(look), procid.Now()-min(procid.Now(), 1000) // clock ticks: 10 s
	return slices.ContainsFunc(look, func(e procid.Entry) bool {
		return above[e.Parent] && !e.Dead() && (e.Forked && e.Name == look[own].Name || e.Blank && e.Start >= recent)
	})
}

// ancestors are the processes above this one, who inherit what it does not.
func ancestors(look procid.Table) map[int]bool {
	parent := make(map[int]int, len(look))
	for i := range look {
		parent[look[i].PID] = look[i].Parent
	}
	above := map[int]bool{1: true}
	for pid := parent[os.Getpid()]; pid > 1 && !above[pid]; pid = parent[pid] {
		above[pid] = true
	}
	return above
}

func without(list, drop []procid.Entry) []procid.Entry {
	var out []procid.Entry
next:
	for i := range list {
		for j := range drop {
			if list[i].PID == drop[j].PID {
				continue next
			}
		}
		out = append(out, list[i])
	}
	return out
}

// looks shares looks at the process table: hundreds of steps may be stopped at
// once, and a look takes milliseconds.
type looks struct {
	mu    sync.Mutex
	taken time.Time // when the look began
	last  procid.Table
}

// fresh is a look that began after it was asked for. Those who wait while one is
// being taken share the next.
func (l *looks) fresh(since uint64) procid.Table {
	asked := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken.After(asked) {
		return l.last
	}
	l.taken = time.Now()
	l.last, _ = procid.ReadTable(since)
	return l.last
}
