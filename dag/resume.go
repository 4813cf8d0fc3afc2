package dag

import (
	"slices"
	"time"
)

// Rules select the steps that run again when a run is continued. With the zero Rules, an interrupted step does not. In a
// run that has ended, steps run again that failed without being tolerated, or were cancelled. A run that has not ended is
// carried on: what has ended in it stays as it ended, because nobody ordered anything else.
type Rules struct {
	// Anew treats a run that has not ended as one that has: it is retried as another run.
	Anew bool

	// From are the paths of steps that run again whatever their result was.
	From []ID
	// Rerun reports whether an interrupted step runs again: one that was running when
	// flowrun was killed, or has been marked as interrupted since. nil means no.
	Rerun func(path ID, n *Node) bool
	// Open are the paths of steps whose question nobody has answered: what waits for them is not left to do, but held.
	Open []ID
}

// Remainder is what is left to do in a run, in plan order. The steps of a nested graph are
// listed themselves, unless the step that holds them runs again as a whole.
type Remainder struct {
	Reset       []ID      // their results no longer count; they run again
	Left        []ID      // they never started
	Held        []ID      // they never started, and wait for a step of Rules.Open
	Waiting     []ID      // they wait for their next attempt, a time or an answer
	Interrupted []ID      // they were running, and Rules.Rerun does not let them run again
	Kept        []ID      // their results are kept
	Cleaned     []Cleaned // kept, although a cleanup step has run after them
	EndMissing  bool      // the end of the run is not recorded and has to be
}

// Nothing reports whether there is nothing left to do.
func (r *Remainder) Nothing() bool {
	return !r.EndMissing && len(r.Reset)+len(r.Left)+len(r.Held)+len(r.Waiting)+len(r.Interrupted) == 0
}

// Cleaned is a step whose result is kept and needed by a step that runs again, although By
// has started: an always() or cancelled() step that waits for it and may have cleaned up
// after it.
type Cleaned struct{ Step, By ID }

// Remainder computes what is left of the run: every step that must run again by the Rules
// or because of its result, and all steps downstream of those. It changes nothing; a
// RunResumed event with Reset does.
func (s *State) Remainder(rules Rules) *Remainder {
	r := &Remainder{EndMissing: s.result == nil}
	w := &planner{rules: rules, from: setOf(rules.From), open: setOf(rules.Open)}
	w.plan(s.root, rules.Anew || s.result != nil).addTo(r)
	return r
}

func setOf(paths []ID) map[ID]bool {
	set := make(map[ID]bool, len(paths))
	for _, path := range paths {
		set[path] = true
	}
	return set
}

// planner computes the Remainder, one frame after another.
type planner struct {
	rules      Rules
	from, open map[ID]bool
}

// fate is what happens to a node in a resume.
type fate uint8

const (
	fateKept        fate = iota
	fateReset            // it runs again from the start
	fateInside           // a node inside its graph runs again or has not ended
	fateNotStarted       // it never started
	fateWaiting          // it waits for its next attempt, a time or an answer
	fateInterrupted      // it was running and will not run again
)

// settlesAgain reports whether the node will settle anew, so that its dependents must run
// again too.
func (x fate) settlesAgain() bool {
	return x == fateReset || x == fateInside || x == fateNotStarted || x == fateWaiting
}

// framePlan holds the fates of the nodes of a frame.
type framePlan struct {
	*planner
	f     *frame
	fates []fate
	inner map[int32]*framePlan
}

// plan decides about the nodes of a frame. counted means that failures in it count; it is
// false in a run that is carried on, and inside a graph that succeeded, or whose failure is tolerated.
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
	case o.from[path], c != nil && !c.expanded: // c has no items yet, so none of them has started
		return fateReset
	case c != nil && (n.status == Running || n.status.Settled()):
		in := o.plan(c, counted && (failed || n.status == Running))
		if n.status == Running || slices.ContainsFunc(in.fates, fate.settlesAgain) {
			o.inner[i] = in
			return fateInside
		}
	}
	switch {
	case n.status == Pending && n.everStarted: // it was reset, and then flowrun was killed again
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

// notRepeatable reports whether a node, or one inside its graph, was interrupted and may
// not run again. Such a node is kept even if everything around it is reset.
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

// resetDownstream resets the nodes downstream of those that settle again.
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

// asks reports whether a node, or one inside its graph, has an open question.
func (o *framePlan) asks(i int32) bool {
	if o.fates[i] != fateInside {
		return o.fates[i] == fateWaiting && o.open[o.f.path(i)]
	}
	in := o.inner[i]
	for j := range in.fates {
		if in.asks(int32(j)) {
			return true
		}
	}
	return false
}

// held returns the nodes that wait for one with an open question, directly or not.
func (o *framePlan) held() []bool {
	held := make([]bool, len(o.fates))
	if len(o.open) == 0 {
		return held
	}
	var queue []int32
	for i := range o.fates {
		if o.asks(int32(i)) {
			queue = append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, d := range o.f.walk.dependents(i) {
			if !held[d] {
				held[d] = true
				queue = append(queue, d)
			}
		}
	}
	return held
}

// addTo adds the steps of the frame to r.
func (o *framePlan) addTo(r *Remainder) {
	held := o.held()
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
			if held[i] {
				r.Held = append(r.Held, path)
			} else {
				r.Left = append(r.Left, path)
			}
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

// isCleanup reports whether the purpose of a node is to clean up after others.
func (o *framePlan) isCleanup(i int32) bool {
	def := o.f.def(i)
	return def.Cleanup || def.When != nil && def.When.Uses == UsesCancel
}

// findCleaned finds the steps that are kept and needed by a step that runs again, although
// a cleanup step has started after them.
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

// addCleanedInside adds the steps that are kept inside a continued graph although the
// cleanup step by has started after the whole graph.
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

// cleanupScope returns the nodes that a cleanup node cleans up after: everything upstream
// of it. For a handler, which waits for a join that summarizes, these are the nodes in the
// summary.
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

// upstream returns the nodes that the selected nodes wait for, directly or not.
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

// resume applies that another owner continues the run. Nodes that have settled and are not
// reset keep their results, as if they had just settled. Every cancel is lifted, and every
// time limit starts again.
func (s *State) resume(e *Event) {
	s.started, s.owned, s.result = true, e.Time, nil
	if s.root.started.IsZero() {
		s.root.started = e.Since()
	}
	for _, path := range e.Reset {
		s.resetStep(s.find(path))
	}
	s.readyNoSlot, s.readyFrames, s.readyCount = nil, nil, 0
	s.endedFrames, s.failing, s.deadlines = nil, nil, nil
	retries, waits := s.retries, s.waits
	s.retries, s.waits = nil, nil
	s.reopen(s.root, e.Time)
	for _, t := range append(retries, waits...) { // the time of a wait continues, also after a cancel that did not end it
		if s.holds(t.at.f) {
			s.addTimer(t)
		}
	}
}

// resetStep makes a step one that has not run. The steps that hold it are running again. If
// a step was interrupted in a round, that round starts again, not the rounds before.
func (s *State) resetStep(at place) {
	if at.f == nil {
		return
	}
	n := at.f.node(at.i)
	fresh := nodeState{everStarted: n.everStarted}
	repeats := at.f.rounds[at.i] != nil
	switch {
	case repeats && n.status == Pending:
		fresh.res, fresh.attempt = n.res, n.attempt
	case repeats && (n.status == Running || n.status == Interrupted):
		fresh.res, fresh.attempt = n.res, n.attempt-1 // it has the same number again
	default:
		delete(at.f.rounds, at.i)
	}
	*n = fresh
	delete(at.f.children, at.i)
	for up := at.f.parent; up.f != nil; up = up.f.parent {
		if n := up.f.node(up.i); n.status.Settled() {
			n.status, n.res, n.fallback = Running, nil, false
		}
	}
}

// reopen resets the counters of a frame and its nodes.
func (s *State) reopen(f *frame, now time.Time) {
	f.stopped, f.timedOut, f.endQueued, f.completing, f.cleanupDeadline = "", false, false, false, time.Time{}
	f.ready, f.queued, f.unsettled = nil, false, 0
	if f.parent.f != nil {
		f.scope = scope{walking, f.parent.f}
	}
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
	if f.unsettled == 0 && f.bound { // otherwise its end waits for the arguments
		s.queueEnd(f)
	}
}

// holds reports whether a frame is still part of the run.
func (s *State) holds(f *frame) bool {
	for ; f.parent.f != nil; f = f.parent.f {
		if f.parent.f.children[f.parent.i] != f {
			return false
		}
	}
	return f == s.root
}
