package proc

import (
	"context"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// termination ends the processes of a step, or all that is left of a run. The two differ only in
// what find returns.
type termination struct {
	find       func() []procid.Entry // returns the living processes that must end
	group      int                   // process group whose leader has not been reaped; 0 for none
	leaves     []*cgroup.Leaf        // frozen when processes fork faster than find can see them
	killLeaves bool                  // everything in the leaves must end, so kill each leaf as a whole
	mayBeOver  func() bool           // returns false while processes certainly remain, which saves a read of the process table; may be nil
}

// Pauses between two reads of the process table.
const (
	minPause = time.Millisecond
	maxPause = 50 * time.Millisecond
)

// run sends TERM, waits for the grace period, then sends KILL. It returns the processes that it
// found first, and those that survived.
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

// terminate sends TERM, waits for the grace period, and reports whether all processes have ended. A
// process that it finds later also gets TERM if its parent has ended: the parent got TERM just
// after it had forked. If the parent is alive, the child may be there to clean up and gets no
// signal.
func (t *termination) terminate(found []procid.Entry, grace time.Duration, force <-chan struct{}) bool {
	t.signalGroup(syscall.SIGTERM)
	signalled := map[int]bool{}
	for i := range found {
		signalled[found[i].PID] = true
		if found[i].Group != t.group { // the group already got the signal
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

// kill sends KILL until find returns no process. If some remain after a few rounds, they fork
// faster than find can see them, so their leaf is frozen first. On a very busy machine one read of
// the process table can take as long as the whole time limit. So there are at least minRounds
// rounds: a process that was killed a moment ago is not a survivor.
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
				_ = l.Kill() // if that fails, the processes are killed one by one
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

// signalGroup signals the process group as a whole, so that no fork in it can escape.
func (t *termination) signalGroup(sig syscall.Signal) {
	if t.group > 0 {
		syscall.Kill(-t.group, sig)
	}
}

// Stop ends the step. See [Process].
func (c *child) Stop(grace time.Duration, force <-chan struct{}) (Exit, []procid.Info) {
	if c.isReaped() {
		return c.exit, nil // its pid may belong to another process now
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
	for i := 0; i < 20 && !c.tryReap(syscall.WNOHANG); i++ { // killed, but not yet a zombie
		time.Sleep(minPause)
	}
	return c.reap(), infos(survivors)
}

// addTo adds the first process to a set. It has not been reaped, so its pid is still its own.
func (c *child) addTo(t *processSet, table procid.Table) {
	for i := range table {
		if table[i].PID == c.pid {
			t.add(&table[i])
		}
	}
}

// endRun ends what is left of the run.
func (g *Group) endRun(ctx context.Context, grace time.Duration) Report {
	set, detached := g.processSets()
	t := &termination{leaves: g.ownLeaves(), killLeaves: true}
	t.find = func() []procid.Entry {
		list := g.findAll(set, detached)
		if g.foreign {
			t.leaves = g.foundLeaves()
		}
		return list
	}
	found, survivors := t.run(grace, ctx.Done())
	return Report{Ended: infos(without(found, survivors)), Escaped: infos(append(survivors, g.unattributed(set, detached)...))}
}

// ownLeaves returns the leaf of this Group, if there is one.
func (g *Group) ownLeaves() []*cgroup.Leaf {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leaf == nil {
		return nil
	}
	return []*cgroup.Leaf{g.leaf}
}

// processSets returns what is known of the run, and of its detached steps, before the process table
// is read.
func (g *Group) processSets() (run, detached *processSet) {
	g.mu.Lock()
	defer g.mu.Unlock()
	run, detached = newProcessSet(g.markBelongs, ""), newProcessSet(nil, "")
	for pid := range g.leftGroups {
		run.leaders[pid] = noStartTime
	}
	for pid := range g.detachedGroups {
		detached.leaders[pid] = noStartTime
	}
	return run, detached
}

// findAll returns all living processes of the run, except what detached steps left.
func (g *Group) findAll(run, detached *processSet) []procid.Entry {
	table := g.snapshots.take(g.since)
	var above map[int]bool
	if g.foreign {
		table, above = g.awaitExec(run, table)
	}
	g.mu.Lock()
	var inLeaf map[int]bool
	if g.leaf != nil {
		inLeaf = g.leaf.PIDs()
	}
	hasDetached := len(g.detachedSteps) > 0
	for i := range table {
		if _, ok := g.detachedSteps[table[i].Step]; ok && g.markBelongs(table[i].Mark) {
			detached.add(&table[i])
		}
	}
	for c := range g.live {
		if !c.detach {
			c.addTo(run, table)
		} else {
			c.addTo(detached, table)
		}
	}
	g.mu.Unlock()
	detached.update(table, isExempt)
	// If there is a detached step, an orphan without a mark may belong to it. Only the leaf, which
	// contains no detached steps, could tell.
	takeOrphans := !g.foreign && onlyGroup() && !hasDetached
	for i := range table {
		e := &table[i]
		if inLeaf[e.PID] || takeOrphans && e.Parent == os.Getpid() && !isExempt(e) {
			run.add(e)
		}
	}
	return run.update(table, func(e *procid.Entry) bool {
		_, kept := detached.seen[e.PID]
		return kept || isExempt(e) || above[e.PID]
	})
}

// unattributed returns processes that may belong to the run but carry no mark: orphans of this user
// that started during the run. It looks for them only if a step was stopped and there is neither a
// leaf nor a reaper that could tell. They are reported, not killed.
func (g *Group) unattributed(run, detached *processSet) []procid.Entry {
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
		_, kept := detached.seen[e.PID]
		return known || kept || e.Start < g.since || isExempt(e)
	})
}

// maxExecWait is how long awaitExec waits for a forked process to execute its program. That takes
// far less than a millisecond, unless the process gets no CPU time.
const maxExecWait = 2 * time.Second

// awaitExec adds what killed owners left, and waits until every process that they forked has
// executed its program, because a process carries no mark before. It returns the last process table
// that it read, and the ancestors of this process. If marks do not count, it does not wait.
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

// anyBeforeExec reports whether a process exists that an owner forked before it was killed and that
// has not executed its program yet. Until then the process has the name of the owner's program,
// which is also the name of this one. For a moment after that it has no environment.
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

// ancestors returns the ancestors of this process, and pid 1. They inherit the orphans that this
// process does not.
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

// without returns list without the processes of drop.
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

// snapshots lets concurrent callers share one read of the process table: hundreds of steps may be
// stopped together, and a read takes milliseconds.
type snapshots struct {
	mu        sync.Mutex
	lastStart time.Time // when the last read began
	last      procid.Table
}

// take returns a process table whose read began after the call. Callers that wait during a read
// share the next one.
func (l *snapshots) take(since uint64) procid.Table {
	asked := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lastStart.After(asked) {
		return l.last
	}
	l.lastStart = time.Now()
	l.last, _ = procid.ReadTable(since)
	return l.last
}
