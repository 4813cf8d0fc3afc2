package dag

import (
	"slices"
	"time"
)

// Rules say which steps run again when a run is taken up again. The zero Rules
// are those of a resume: what failed untolerated and what was cancelled runs
// again, an interrupted step does not.
type Rules struct {
	// From are the paths of steps that run again whatever came of them.
	From []ID
	// Rerun says whether a step that was running when the engine died, or has
	// counted as interrupted since, runs again. nil is no.
	Rerun func(path ID, n *Node) bool
}

// Remainder is what is left to do of a run, in plan order. Steps of a nested graph
// stand by themselves unless the step that holds it runs again as a whole.
type Remainder struct {
	Reset       []ID      // what they did counts no more; they run again
	Left        []ID      // they never started
	Waiting     []ID      // they wait for their next try, or for the outside
	Interrupted []ID      // they were running, and Rules.Rerun does not let them run again
	Kept        []ID      // what they did stands
	Cleaned     []Cleaned // kept, though something has cleaned up after them
	EndMissing  bool      // the end of the run is not on record: it is still to be told
}

// Nothing says that there is nothing to do any more.
func (r *Remainder) Nothing() bool {
	return !r.EndMissing && len(r.Reset)+len(r.Left)+len(r.Waiting)+len(r.Interrupted) == 0
}

// Cleaned is a step whose result stands, and is needed by a step that runs again,
// although By, an always() or cancelled() step that waits for it, has begun to run.
type Cleaned struct{ Step, By ID }

// Remainder works out what is left of the run: every step that Rules, or what
// became of it, sends back, and everything downstream of those (design:
// Durability). It changes nothing; a RunResumed event with Reset does.
func (s *State) Remainder(rules Rules) *Remainder {
	r := &Remainder{EndMissing: s.result == nil}
	w := &planner{rules: rules, from: make(map[ID]bool, len(rules.From))}
	for _, path := range rules.From {
		w.from[path] = true
	}
	w.plan(s.root, true).addTo(r)
	return r
}

// planner looks at one frame after another.
type planner struct {
	rules Rules
	from  map[ID]bool
}

// fate is what becomes of a node.
type fate uint8

const (
	fateKept        fate = iota
	fateReset            // it runs again from the start
	fateInside           // something inside its graph does, or has not ended
	fateNotStarted       // it never started
	fateWaiting          // it waits for its next try, or for the outside
	fateInterrupted      // it was running and will not run again
)

// settlesAgain says whether the node will settle anew, and what follows it with it.
func (x fate) settlesAgain() bool {
	return x == fateReset || x == fateInside || x == fateNotStarted || x == fateWaiting
}

// framePlan is what becomes of the nodes of a frame.
type framePlan struct {
	*planner
	f     *frame
	fates []fate
	inner map[int32]*framePlan
}

// plan judges a frame. counted says that its failures count: those of a graph that
// ended well, or whose failure is tolerated, do not.
func (w *planner) plan(f *frame, counted bool) *framePlan {
	o := &framePlan{planner: w, f: f, fates: make([]fate, len(f.nodes)), inner: map[int32]*framePlan{}}
	for i := range f.nodes {
		if !f.def(int32(i)).isJoin() {
			o.fates[i] = o.decide(int32(i), counted)
		}
	}
	o.resetDownstream()
	return o
}

func (o *framePlan) decide(i int32, counted bool) fate {
	n, path := o.f.node(i), o.f.path(i)
	failed := counted && n.res != nil && n.status != Skipped && (n.status == Cancelled || n.res.taints())
	switch c := o.f.children[i]; {
	case o.from[path], c != nil && !c.expanded: // nothing of such a loop has begun
		return fateReset
	case c != nil && (n.status == Running || n.status.Settled()):
		in := o.plan(c, counted && (failed || n.status == Running))
		if n.status == Running || slices.ContainsFunc(in.fates, fate.settlesAgain) {
			o.inner[i] = in
			return fateInside
		}
	}
	switch {
	case n.status == Pending && n.everStarted: // sent back, and then the engine died again
		return fateReset
	case n.status == Pending:
		return fateNotStarted
	case n.status.parked():
		return fateWaiting
	case o.notRepeatable(o.f, i):
		if n.status == Running {
			return fateInterrupted
		}
	case n.status == Running || failed:
		return fateReset
	}
	return fateKept
}

// notRepeatable says whether a node, or one inside its graph, was interrupted and may not
// run again: whatever is reset around it, such a node stays as it is.
func (w *planner) notRepeatable(f *frame, i int32) bool {
	path := f.path(i)
	if w.from[path] {
		return false
	}
	c := f.children[i]
	switch n := f.node(i); {
	case c != nil:
		for j := range c.nodes {
			if w.notRepeatable(c, int32(j)) {
				return true
			}
		}
		return false
	case n.status == Interrupted || n.status == Running:
		return w.rules.Rerun == nil || !w.rules.Rerun(path, f.def(i))
	}
	return false
}

// resetDownstream resets what is downstream of what moves.
func (o *framePlan) resetDownstream() {
	var queue []int32
	seen := make([]bool, len(o.fates))
	for i, x := range o.fates {
		if x.settlesAgain() {
			queue = append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, d := range o.f.walk.dependents(i) {
			if seen[d] {
				continue
			}
			seen[d] = true
			queue = append(queue, d)
			if x := o.fates[d]; x != fateNotStarted && x != fateInterrupted && !o.f.def(d).isJoin() && !o.notRepeatable(o.f, d) {
				o.fates[d] = fateReset
			}
		}
	}
}

// addTo adds the frame's steps to what is left.
func (o *framePlan) addTo(r *Remainder) {
	for i, x := range o.fates {
		def := o.f.def(int32(i))
		if def.isJoin() {
			continue
		}
		path := o.f.path(int32(i))
		switch x {
		case fateKept:
			r.Kept = append(r.Kept, path)
		case fateReset:
			r.Reset = append(r.Reset, path)
		case fateNotStarted:
			r.Left = append(r.Left, path)
		case fateWaiting:
			r.Waiting = append(r.Waiting, path)
		case fateInterrupted:
			r.Interrupted = append(r.Interrupted, path)
		case fateInside:
			o.inner[int32(i)].addTo(r)
		}
	}
	o.findCleaned(r)
}

// isCleanup says whether a node is there to clean up after others.
func (o *framePlan) isCleanup(i int32) bool {
	def := o.f.def(i)
	return def.Cleanup || def.When != nil && def.When.Uses == UsesCancel
}

// findCleaned finds what is kept although something has cleaned up after it, and what is
// needed by a step that runs again.
func (o *framePlan) findCleaned(r *Remainder) {
	var needed []bool
	for i := range o.f.nodes {
		by := int32(i)
		if !o.isCleanup(by) || o.fates[i] == fateKept || !o.f.nodes[i].everStarted {
			continue
		}
		if needed == nil {
			needed = o.upstream(func(j int32) bool { return o.fates[j].settlesAgain() && !o.isCleanup(j) })
		}
		before := o.cleanupScope(by)
		for j := range o.f.nodes {
			switch {
			case !before[j]:
			case o.fates[j] == fateInside:
				o.inner[int32(j)].addCleanedInside(r, o.f.path(by))
			case needed[j] && o.fates[j] == fateKept && o.f.nodes[j].status.Executed():
				r.Cleaned = append(r.Cleaned, Cleaned{o.f.path(int32(j)), o.f.path(by)})
			}
		}
	}
}

// addCleanedInside names what is kept inside a graph that goes on although something has
// cleaned up after the whole of it.
func (o *framePlan) addCleanedInside(r *Remainder, by ID) {
	for j, x := range o.fates {
		switch {
		case x == fateInside:
			o.inner[int32(j)].addCleanedInside(r, by)
		case x == fateKept && !o.f.def(int32(j)).isJoin() && o.f.nodes[j].status.Executed():
			r.Cleaned = append(r.Cleaned, Cleaned{o.f.path(int32(j)), by})
		}
	}
}

// cleanupScope is what a node that cleans up does that for: all that came before it; for
// what waits for a join that sums up, a handler, what that join is about.
func (o *framePlan) cleanupScope(by int32) []bool {
	seen, sums := make([]bool, len(o.f.nodes)), false
	for _, id := range o.f.def(by).After {
		if up := o.f.def(o.f.index(id)); up.isJoin() && up.Summarizes != nil {
			sums = true
			for _, about := range up.Summarizes {
				seen[o.f.index(about)] = true
			}
		}
	}
	if sums {
		return seen
	}
	return o.upstream(func(j int32) bool { return j == by })
}

// upstream is everything that some nodes wait for, directly or not.
func (o *framePlan) upstream(of func(int32) bool) []bool {
	seen := make([]bool, len(o.f.nodes))
	var queue []int32
	for i := range o.f.nodes {
		if of(int32(i)) {
			queue = append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, id := range o.f.def(i).After {
			if up := o.f.index(id); !seen[up] {
				seen[up] = true
				queue = append(queue, up)
			}
		}
	}
	return seen
}

// resume records that another owner continues the run. What has settled and is
// not reset stands, as if it had just happened; every cancel is over and every time
// limit begins anew.
func (s *State) resume(e *Event) {
	s.started, s.result = true, nil
	if s.root.started.IsZero() {
		s.root.started = e.Time
	}
	for _, path := range e.Reset {
		s.resetStep(s.find(path))
	}
	s.readyNoSlot, s.readyFrames, s.readyCount = nil, nil, 0
	s.endedFrames, s.failing, s.deadlines = nil, nil, nil
	retries, waits := s.retries, s.waits
	s.retries, s.waits = nil, nil
	s.reopen(s.root, e.Time)
	for _, t := range append(retries, waits...) { // a wait's time goes on, also after a cancel that ended none of them
		if s.holds(t.at.f) {
			s.addTimer(t)
		}
	}
}

// resetStep makes a step one that has not run; what holds it has not ended then.
func (s *State) resetStep(at place) {
	if at.f == nil {
		return
	}
	*at.f.node(at.i) = nodeState{everStarted: at.f.node(at.i).everStarted}
	delete(at.f.children, at.i)
	for up := at.f.parent; up.f != nil; up = up.f.parent {
		if n := up.f.node(up.i); n.status.Settled() {
			n.status, n.res, n.fallback = Running, nil, false
		}
	}
}

// reopen counts a frame's nodes anew.
func (s *State) reopen(f *frame, now time.Time) {
	f.stopped, f.timedOut, f.endQueued, f.completing, f.cleanupDeadline = "", false, false, false, time.Time{}
	f.ready, f.queued, f.unsettled = nil, false, 0
	for i := range f.nodes {
		n := &f.nodes[i]
		n.tainted = false
		switch {
		case f.def(int32(i)).isJoin():
			n.res = nil
		case !n.status.Settled():
			f.unsettled++
		}
	}
	s.armDeadline(f, now)
	f.walk.reopen(s, f)
	for i := range f.nodes {
		if n := &f.nodes[i]; n.status.Settled() {
			s.notifyDependents(f, int32(i), n.res.taints())
		} else if c := f.children[int32(i)]; c != nil {
			s.reopen(c, now)
		}
	}
	if f.unsettled == 0 && f.bound { // else its end needs the arguments
		s.queueEnd(f)
	}
}

// holds says whether a frame still belongs to the run.
func (s *State) holds(f *frame) bool {
	for ; f.parent.f != nil; f = f.parent.f {
		if f.parent.f.children[f.parent.i] != f {
			return false
		}
	}
	return f == s.root
}
