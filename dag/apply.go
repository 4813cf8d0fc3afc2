package dag

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Apply applies one event to the state. Events must come in the order in which they were
// made. An event that cannot have happened is ignored: one for a node that does not exist
// or has settled, an end without a final status, and a kind that is never recorded.
func (s *State) Apply(e Event) {
	e.at = place{} // it may belong to another State
	switch e.Kind {
	case runOwned, stepBound, stepCompleting, stepClaiming, stepClaimed:
	default:
		s.apply(&e)
	}
}

func (s *State) apply(e *Event) {
	s.seq, s.now, s.notices = max(s.seq, e.Seq), e.Time, append(s.notices, e.Notices...)
	switch e.Kind {
	case RunStarted:
		s.started, s.owned, s.root.started = true, e.Time, e.Since()
		s.armDeadline(s.root, e.Time)
	case RunCancelling:
		if f := s.cancelledFrame(e); f != nil {
			s.cancelFrame(f, e)
		}
	case RunFinished:
		s.result = e.Result
	case RunResumed:
		s.resume(e)
		s.notices = WithoutSteps(s.notices, e.Reset)
	case runOwned:
		s.limits = *e.limits
	case stepCompleting:
		e.at.f.completing = true
	case stepClaiming:
		e.at.f.node(e.at.i).claim = claiming
	case stepClaimed:
		s.applyClaim(e.at, e.claimed)
	default:
		s.applyStep(e)
	}
	s.dropStale()
}

// dropStale removes obsolete entries from the front of every queue, so that Next can decide
// about the first entry.
func (s *State) dropStale() {
	s.endedFrames = s.endedFrames[leading(s.endedFrames, func(f *frame) bool {
		return f.completing || s.endObsolete(f)
	}):]
	s.failing = s.failing[leading(s.failing, func(f *frame) bool { return f.stopped != "" || f.unsettled == 0 }):]
	s.deadlines = s.deadlines[leading(s.deadlines, func(t timer) bool { return t.at.f.stopped != "" || t.at.f.allSettled() || s.endObsolete(t.at.f) }):]
	s.retries = s.retries[leading(s.retries, func(t timer) bool { return !t.current(Retrying) || t.at.f.node(t.at.i).claim == claiming }):]
	s.waits = s.waits[leading(s.waits, func(t timer) bool { return !t.current(Waiting) }):]
	s.readyNoSlot = s.readyNoSlot[leading(s.readyNoSlot, func(at place) bool { return at.f.node(at.i).status != Pending }):]
	s.readyFrames = s.readyFrames[leading(s.readyFrames, s.dropDecided):]
}

// endObsolete reports whether the end of a frame was already applied: its node has settled,
// or has a new attempt.
func (s *State) endObsolete(f *frame) bool {
	if f.parent.f == nil {
		return s.result != nil
	}
	return f.parent.f.children[f.parent.i] != f || f.parent.f.node(f.parent.i).status != Running
}

// dropDecided removes the nodes that were decided from the front of a frame's ready nodes.
// It reports whether none are left.
func (s *State) dropDecided(f *frame) bool {
	for len(f.ready) > 0 && (f.nodes[f.ready[0]].status != Pending || f.nodes[f.ready[0]].claim == claiming) {
		f.ready.pop()
		s.readyCount--
	}
	f.queued = len(f.ready) > 0
	return !f.queued
}

// leading returns how many elements at the front of a list are stale.
func leading[T any](list []T, stale func(T) bool) int {
	n := 0
	for n < len(list) && stale(list[n]) {
		n++
	}
	return n
}

// cancelledFrame returns the frame that a cancel is about, nil if it has ended.
func (s *State) cancelledFrame(e *Event) *frame {
	at := e.at
	switch {
	case e.Node == "":
		return s.root
	case at.f == nil:
		at = s.find(e.Node)
	}
	if at.f == nil {
		return nil
	}
	return at.f.children[at.i]
}

// placeOf returns the place of the node of an event.
func (s *State) placeOf(e *Event) place {
	if e.at.f == nil {
		return s.find(e.Node)
	}
	return e.at
}

// applyStep applies an event of one step.
func (s *State) applyStep(e *Event) {
	at := s.placeOf(e)
	if at.f == nil || at.f.node(at.i).status.Settled() {
		return
	}
	switch n := at.f.node(at.i); e.Kind {
	case StepStarted:
		s.startNode(at, e)
	case stepBound:
		if c := at.f.children[at.i]; c != nil && !c.bound {
			c.walk.bind(s, c, e)
		}
	case StepExpanded:
		if c := at.f.children[at.i]; c != nil {
			if w, ok := c.walk.(*loopWalk); ok {
				w.expand(c, e)
			}
		}
	case StepRetrying:
		if n.status.parked() {
			return
		}
		n.res = e.Result
		if e.Reason == ReasonRepeat {
			at.f.endRound(at.i)
		}
		delete(at.f.children, at.i)
		s.setStatus(at, Retrying)
		s.addTimer(timer{due: e.Due, at: at, attempt: n.attempt})
	case StepWaiting:
		if n.status == Running && at.f.def(at.i).isLeaf() && e.Result != nil && e.Result.Wait != nil {
			s.startWait(at, e)
		}
	case StepFallback:
		if n.status == Waiting {
			return
		}
		n.res, n.fallback = e.Result, true
		delete(at.f.children, at.i)
	case StepFinished:
		if e.Result != nil && e.Result.Status.Settled() {
			s.settleNode(at, e.Result)
		}
	}
}

// startWait makes a node wait for a time or an answer.
func (s *State) startWait(at place, e *Event) {
	n := at.f.node(at.i)
	n.res = e.Result
	s.setStatus(at, Waiting)
	s.addTimer(timer{due: at.waitDue(), at: at, attempt: n.attempt, wait: e.Seq})
}

// setStatus changes the status of a node.
func (s *State) setStatus(at place, to Status) {
	n := at.f.node(at.i)
	from := n.status
	n.status = to
	at.f.walk.statusChanged(s, at.f, from, to)
}

// maxAttempt prevents an overflow by a damaged journal.
const maxAttempt = 1 << 30

func (s *State) startNode(at place, e *Event) {
	n := at.f.node(at.i)
	if n.status == Waiting {
		s.waits.remove(at, n.res.Wait.due())
	}
	s.setStatus(at, Running)
	n.attempt, n.everStarted = int32(min(max(e.Attempt, 1), maxAttempt)), true
	n.outlasts, n.claim = n.outlasts || e.Outlasts, unclaimed
	at.f.startRound(at.i, e.Time)
	def := at.f.def(at.i)
	if def.isLeaf() {
		return
	}
	prefix := string(at.f.path(at.i))
	if e.Attempt > 1 {
		prefix += "#" + strconv.Itoa(e.Attempt)
	}
	var c *frame
	if def.Each != nil {
		c = openLoop(def.Each, prefix, at)
	} else {
		c = s.openGraph(def.Graph, prefix+"/", at)
	}
	if at.f.children == nil {
		at.f.children = map[int32]*frame{}
	}
	at.f.children[at.i] = c
	c.started, c.scope = e.Time, at.scope()
	s.armDeadline(c, e.Time)
	if def.Graph != nil && def.Bind == nil && at.f.bound {
		s.bindGraph(c, at.view().Args())
	}
}

// armDeadline sets the time limit of a frame: that of its graph, that of an attempt of the
// node which holds it, or the rest of the cleanup time, whichever is the earliest.
func (s *State) armDeadline(f *frame, now time.Time) {
	var due time.Time
	sooner := func(t time.Time) {
		if due.IsZero() || t.Before(due) {
			due = t
		}
	}
	if d := f.walk.timeout(); d > 0 {
		sooner(now.Add(d))
	}
	if up := f.parent.f; up != nil {
		if d := up.def(f.parent.i).Policy.Timeout; d > 0 {
			sooner(now.Add(d))
		}
		if due := f.parent.roundDeadline(); !due.IsZero() {
			sooner(due)
		}
		if up.stopped != "" {
			sooner(up.cleanupDeadline)
		}
	}
	if !due.IsZero() {
		s.deadlines.add(timer{due: due, at: place{f, -1}})
	}
}

// cancelFrame applies a cancel of a frame. What still runs in it may take
// State.limits.cleanup, or the rest of the cleanup time of an outer frame that was
// cancelled before.
func (s *State) cancelFrame(f *frame, e *Event) {
	until := e.Time.Add(s.limits.cleanup)
	for up := f.parent.f; up != nil; up = up.parent.f {
		if up.stopped != "" && up.cleanupDeadline.Before(until) {
			until = up.cleanupDeadline
		}
	}
	f.timedOut = f.timedOut || f.stopped == "" && e.Reason == ReasonTimeout
	s.markCancelled(f, cmp.Or(e.Reason, ReasonCancelled), until)
	s.retries.reschedule(func(t timer) time.Time { return t.at.retryDue(t.due) })
	s.waits.reschedule(func(t timer) time.Time { return t.at.waitDue() })
	// Nodes of a cancelled frame must not wait for a slot in order to end.
	s.readyFrames = moveToFront(s.readyFrames, func(f *frame) bool { return f.stopped != "" })
}

// moveToFront moves the wanted elements before the others and keeps the order within both.
func moveToFront[T any](list []T, wanted func(T) bool) []T {
	if !slices.ContainsFunc(list, wanted) {
		return list
	}
	first := make([]T, 0, len(list))
	for _, x := range list {
		if wanted(x) {
			first = append(first, x)
		}
	}
	return append(first, slices.DeleteFunc(list, wanted)...)
}

// markCancelled marks a frame and every unsettled frame inside it as cancelled. Nodes that
// have not started settle when they become ready; the loop stops those that run. A node
// that would also start after a cancel continues until the cleanup time ends. A forced stop
// ends it too.
func (s *State) markCancelled(f *frame, reason string, until time.Time) {
	fresh := f.stopped == ""
	if !fresh && reason != ReasonForced {
		return
	}
	if fresh {
		f.stopped, f.cleanupDeadline = reason, until
	}
	if reason == ReasonForced {
		for i := range f.nodes {
			f.nodes[i].outlasts = false
		}
	}
	for _, i := range slices.Sorted(maps.Keys(f.children)) { // in order, so that the same events always follow
		c := f.children[i]
		switch {
		case f.nodes[i].status.Settled():
		case reason != ReasonForced && c.stopped == "" && f.nodes[i].outlasts:
			s.deadlines.add(timer{due: f.cleanupDeadline, at: place{c, -1}})
		default:
			s.markCancelled(c, reason, f.cleanupDeadline)
		}
	}
}

func (s *State) settleNode(at place, r *Result) {
	f, n := at.f, at.f.node(at.i)
	if n.status == Waiting {
		s.waits.remove(at, n.res.Wait.due())
	}
	n.res = r
	s.setStatus(at, r.Status)
	f.unsettled--
	if c := f.children[at.i]; c != nil && !c.allSettled() {
		delete(f.children, at.i) // its arguments were rejected: nothing in it ever existed
	}
	if fails := f.walk.nodeSettled(s, f, at.i, r.taints()); fails && f.stopped == "" {
		s.failing = append(s.failing, f)
	}
	if f.unsettled == 0 {
		s.queueEnd(f)
	}
}

// replaceResult replaces the result that an event had by the one that it has now.
func (s *State) replaceResult(old *Result, e *Event) {
	if e.Kind == RunFinished {
		s.result = e.Result
	} else if at := s.placeOf(e); at.f != nil && at.f.node(at.i).res == old {
		at.f.node(at.i).res = e.Result
	}
}

// queueEnd notes that the result of a frame is due. It does so only once, although both the
// last node that settles and the bind of the frame may call it.
func (s *State) queueEnd(f *frame) {
	if !f.endQueued {
		f.endQueued = true
		s.endedFrames = append(s.endedFrames, f)
	}
}

// nodeReady is called when a node waits for no other node any more.
func (s *State) nodeReady(f *frame, i int32) {
	if def := f.def(i); def.isJoin() {
		if def.Summarizes != nil {
			f.nodes[i].res = f.summarizeJoin(def)
		}
		s.notifyDependents(f, i, f.nodes[i].tainted && def.Summarizes == nil)
		return
	}
	if f.bound && f.nodes[i].status == Pending {
		s.queueReady(f, i)
	}
}

// queueReady puts a ready node where Next finds it.
func (s *State) queueReady(f *frame, i int32) {
	f.nodes[i].readyAt = s.now.UnixNano()
	if f.def(i).NoSlot {
		s.readyNoSlot = append(s.readyNoSlot, place{f, i})
		return
	}
	s.enqueue(f, i)
}

// enqueue adds a node to those that wait for a slot.
func (s *State) enqueue(f *frame, i int32) {
	f.ready.push(i)
	s.readyCount++
	if !f.queued {
		f.queued = true
		s.readyFrames = append(s.readyFrames, f)
	}
}

// notifyDependents counts a settled node off in its dependents, and taints them if bad is
// set.
func (s *State) notifyDependents(f *frame, i int32, bad bool) {
	for _, d := range f.walk.dependents(i) {
		n := &f.nodes[d]
		n.tainted = n.tainted || bad
		if n.pending--; n.pending == 0 {
			s.nodeReady(f, d)
		}
	}
}

// bindGraph sets the arguments of a graph and queues its ready nodes.
func (s *State) bindGraph(f *frame, a Args) {
	f.args, f.bound = a, true
	for i := range f.nodes {
		if n := &f.nodes[i]; n.pending == 0 && n.status == Pending && !f.def(int32(i)).isJoin() {
			s.queueReady(f, int32(i))
		}
	}
	s.continueBound(f)
}

// continueBound continues what waited for the frame to be bound: timers of attempts and
// waits, and running graphs inside without arguments of their own. Both exist only if the
// run was resumed.
func (s *State) continueBound(f *frame) {
	held := f.pendingTimers
	f.pendingTimers = nil
	for _, t := range held {
		s.addTimer(t)
	}
	for i := 0; i < len(f.nodes) && len(f.children) > 0; i++ {
		at := place{f, int32(i)}
		def := f.def(at.i)
		if c := f.children[at.i]; c != nil && !c.bound && f.nodes[i].status == Running && def.Graph != nil && def.Bind == nil {
			s.bindGraph(c, at.view().Args())
		}
	}
	if f.unsettled == 0 {
		s.queueEnd(f)
	}
}
