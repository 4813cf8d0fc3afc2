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

// termination is the ending of something: a step, or all that is left of a run. The
// difference is only what a look finds.
type termination struct {
	find       func() []procid.Entry // the living that are to end
	group      int                   // a process group whose leader is not reaped; 0 for none
	leaves     []*cgroup.Leaf        // to freeze when forks outrun the looks
	killLeaves bool                  // nothing but what is to end is in the leaves: kill them as wholes
	mayBeOver  func() bool           // false while it cannot be over, which spares a look; may be nil
}

// Pauses between two looks.
const (
	minPause = time.Millisecond
	maxPause = 50 * time.Millisecond
)

// run is the stop ladder. What would not die comes back, and what was found first.
func (t *termination) run(grace time.Duration, force <-chan struct{}) (found, survivors []procid.Entry) {
	found = t.find()
	if len(found) == 0 && t.isOver() {
		return nil, nil
	}
	if grace > 0 && t.terminate(found, grace, force) {
		return found, nil
	}
	return found, t.kill()
}

func (t *termination) isOver() bool { return t.mayBeOver == nil || t.mayBeOver() }

// terminate sends TERM and waits. It says whether everything went. What is found later is
// told as well when it has lost its parent: that one was told just after it had
// forked. A child whose parent lives may be there to clean up.
func (t *termination) terminate(found []procid.Entry, grace time.Duration, force <-chan struct{}) bool {
	t.signalGroup(syscall.SIGTERM)
	signalled := map[int]bool{}
	for i := range found {
		signalled[found[i].PID] = true
		if found[i].Group != t.group { // the group has been told already
			send(&found[i], syscall.SIGTERM)
		}
		if found[i].State == 'T' {
			send(&found[i], syscall.SIGCONT)
		}
	}
	deadline := time.Now().Add(grace)
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		select {
		case <-force:
			return false
		case <-time.After(min(pause, left)):
		}
		if !t.isOver() {
			continue
		}
		rest := t.find()
		if len(rest) == 0 {
			return true
		}
		for i := range rest {
			if e := &rest[i]; !signalled[e.PID] && !slices.ContainsFunc(rest, func(up procid.Entry) bool { return up.PID == e.Parent }) {
				signalled[e.PID] = true
				send(e, syscall.SIGTERM)
			}
		}
	}
}

// kill sends KILL until a look finds nothing. After a few rounds something forks
// faster than we look, so it is frozen first. A machine may be so busy that a look
// takes as long as all may take: the last rounds are had in any case, because what has
// just been killed is no survivor.
func (t *termination) kill() (survivors []procid.Entry) {
	const (
		freezeAfter = 3  // rounds
		minRounds   = 10 // rounds; they pause for 0.2 s in all
	)
	deadline := time.Now().Add(MaxKillTime - MaxKillTime/4)
	pause := minPause
	for round := 0; ; round++ {
		for _, l := range t.leaves {
			if t.killLeaves {
				_ = l.Kill() // where it cannot be, its processes are killed one by one
			}
			if round >= freezeAfter {
				l.Freeze()
			}
		}
		t.signalGroup(syscall.SIGKILL)
		survivors = t.find()
		for i := range survivors {
			send(&survivors[i], syscall.SIGKILL)
		}
		for _, l := range t.leaves {
			if round >= freezeAfter {
				l.Thaw()
			}
		}
		if len(survivors) == 0 || round >= minRounds && time.Now().After(deadline) {
			return survivors
		}
		time.Sleep(pause)
		pause = min(2*pause, maxPause)
	}
}

// signalGroup signals the process group as one: no fork in it can slip through.
func (t *termination) signalGroup(sig syscall.Signal) {
	if t.group > 0 {
		syscall.Kill(-t.group, sig)
	}
}

// Stop ends the step. See [Process].
func (c *child) Stop(grace time.Duration, force <-chan struct{}) (Exit, []procid.Info) {
	if c.isReaped() {
		return c.exit, nil // its number is no longer its own
	}
	g := c.group
	g.mu.Lock()
	g.stepStopped = true
	g.mu.Unlock()
	set := newProcessSet(g.markBelongs, c.step)
	t := &termination{
		group:     c.pid,
		leaves:    g.ownLeaves(),
		mayBeOver: func() bool { pid, err := peek(pPID, c.pid); return err != nil || pid != 0 },
		find: func() []procid.Entry {
			table := g.snapshots.take(g.since)
			c.addTo(set, table)
			return set.update(table, isExempt)
		},
	}
	_, survivors := t.run(grace, force)
	for i := 0; i < 20 && !c.tryReap(); i++ { // killed, but not a zombie yet
		time.Sleep(minPause)
	}
	return c.reap(), infos(survivors)
}

// addTo adds the first process to a trail. Its number is still its own: nobody has
// reaped it.
func (c *child) addTo(t *processSet, table procid.Table) {
	for i := range table {
		if table[i].PID == c.pid {
			t.add(&table[i])
		}
	}
}

// endRun ends what is left of the run.
func (g *Group) endRun(ctx context.Context, grace time.Duration) Report {
	set, loose := g.processSets()
	t := &termination{leaves: g.ownLeaves(), killLeaves: true}
	t.find = func() []procid.Entry {
		list := g.findAll(set, loose)
		if g.foreign {
			t.leaves = g.foundLeaves()
		}
		return list
	}
	found, survivors := t.run(grace, ctx.Done())
	return Report{Ended: infos(without(found, survivors)), Escaped: infos(append(survivors, g.unattributed(set, loose)...))}
}

// ownLeaves is the leaf of this Group, if there is one.
func (g *Group) ownLeaves() []*cgroup.Leaf {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leaf == nil {
		return nil
	}
	return []*cgroup.Leaf{g.leaf}
}

// processSets are what is known of the run, and of its detached steps, before a look.
func (g *Group) processSets() (run, loose *processSet) {
	g.mu.Lock()
	defer g.mu.Unlock()
	run, loose = newProcessSet(g.markBelongs, ""), newProcessSet(nil, "")
	for pid := range g.leftGroups {
		run.leaders[pid] = noStartTime
	}
	for pid := range g.detachedGroups {
		loose.leaders[pid] = noStartTime
	}
	return run, loose
}

// findAll finds everything of the run that lives, but what detached steps left.
func (g *Group) findAll(run, loose *processSet) []procid.Entry {
	table := g.snapshots.take(g.since)
	var above map[int]bool
	if g.foreign {
		table, above = g.awaitExec(run, table)
	}
	g.mu.Lock()
	var inside map[int]bool
	if g.leaf != nil {
		inside = g.leaf.PIDs()
	}
	free := len(g.detachedSteps) > 0
	for i := range table {
		if _, ok := g.detachedSteps[table[i].Step]; ok && g.markBelongs(table[i].Mark) {
			loose.add(&table[i])
		}
	}
	for c := range g.live {
		if !c.detach {
			c.addTo(run, table)
		} else {
			c.addTo(loose, table)
		}
	}
	g.mu.Unlock()
	loose.update(table, isExempt)
	// With a detached step about, an orphan without any mark may be that step's:
	// only the leaf, which detached steps are not in, tells them apart.
	claim := !g.foreign && onlyGroup() && !free
	for i := range table {
		e := &table[i]
		if inside[e.PID] || claim && e.Parent == os.Getpid() && !isExempt(e) {
			run.add(e)
		}
	}
	return run.update(table, func(e *procid.Entry) bool {
		_, kept := loose.seen[e.PID]
		return kept || isExempt(e) || above[e.PID]
	})
}

// unattributed are processes that may be the run's and carry no mark: orphans of this
// user that began while the run lasted. They are asked for only where something
// was stopped and neither a leaf nor a reaper can tell, and they are not killed.
func (g *Group) unattributed(run, loose *processSet) []procid.Entry {
	g.mu.Lock()
	ask := g.stepStopped && g.leaf == nil
	g.mu.Unlock()
	if !ask || IsReaper() {
		return nil
	}
	table := g.snapshots.take(g.since)
	above, orphans := ancestors(table), newProcessSet(nil, "")
	for i := range table {
		e := &table[i]
		if above[e.Parent] && e.Start >= g.since && e.Mark == "" && procid.SameUser(e.PID) {
			orphans.add(e)
		}
	}
	return orphans.update(table, func(e *procid.Entry) bool {
		_, known := run.seen[e.PID]
		_, kept := loose.seen[e.PID]
		return known || kept || e.Start < g.since || isExempt(e)
	})
}

// maxExecWait is how long a fork may take to begin its program. It takes far less
// than a millisecond, unless nothing gets a processor.
const maxExecWait = 2 * time.Second

// awaitExec adopts what is left, and waits until every other fork of a dead engine has begun
// its program, and looks again: not before then does it carry a mark. Where marks do not
// count there is nothing to wait for.
func (g *Group) awaitExec(run *processSet, table procid.Table) (_ procid.Table, above map[int]bool) {
	for end := time.Now().Add(maxExecWait); ; table = g.snapshots.take(g.since) {
		above = ancestors(table)
		g.addAbandoned(run, table, above)
		unknown := slices.DeleteFunc(slices.Clone(table), func(e procid.Entry) bool { return run.seen[e.PID] == e.Start })
		if g.markBelongs == nil || !anyBeforeExec(unknown) || time.Now().After(end) {
			return table, above
		}
		time.Sleep(minPause)
	}
}

// anyBeforeExec says whether there is a process that an engine forked before it died, and
// that has not begun its program yet. Until then it has the engine's name, which is
// this program's. For a moment after that it has no environment.
func anyBeforeExec(table procid.Table) bool {
	own := slices.IndexFunc(table, func(e procid.Entry) bool { return e.PID == os.Getpid() })
	if own < 0 {
		return false
	}
	above, recent := ancestors(table), procid.Now()-min(procid.Now(), 1000) // clock ticks: 10 s
	return slices.ContainsFunc(table, func(e procid.Entry) bool {
		return above[e.Parent] && !e.Dead() && (e.BeforeExec && e.Name == table[own].Name || e.NoEnviron && e.Start >= recent)
	})
}

// ancestors are the processes above this one, who inherit what it does not.
func ancestors(table procid.Table) map[int]bool {
	parent := make(map[int]int, len(table))
	for i := range table {
		parent[table[i].PID] = table[i].Parent
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

// snapshots shares looks at the process table: hundreds of steps may be stopped at
// once, and a look takes milliseconds.
type snapshots struct {
	mu    sync.Mutex
	begun time.Time // when the look began
	last  procid.Table
}

// take is a look that began after it was asked for. Those who wait while one is
// being taken share the next.
func (l *snapshots) take(since uint64) procid.Table {
	asked := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun.After(asked) {
		return l.last
	}
	l.begun = time.Now()
	l.last, _ = procid.ReadTable(since)
	return l.last
}
