package dag

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// Apply folds one event into the state. Events must come in the order they were
// made. What cannot have happened is ignored: an event about a node that does not
// exist or has settled, an end without an end state, a kind that is never recorded.
func (s *State) Apply(e Event) {
	e.at = place{} // it may be that of another State
	switch e.Kind {
	case runOwned, stepBound, stepCompleting:
	default:
		s.apply(&e)
	}
}

func (s *State) apply(e *Event) {
	s.seq, s.now = max(s.seq, e.Seq), e.Time
	switch e.Kind {
	case RunStarted:
		s.started, s.root.started = true, e.Time
		s.armDeadline(s.root, e.Time)
	case RunCancelling:
		if f := s.cancelledFrame(e); f != nil {
			s.cancelFrame(f, e)
		}
	case RunFinished:
		s.result = e.Result
	case RunResumed:
		s.resume(e)
	case runOwned:
		s.limits = *e.limits
	case stepCompleting:
		e.at.f.completing = true
	default:
		s.applyStep(e)
	}
	s.dropStale()
}

// dropStale takes out of the front of every queue what an event has overtaken, so that what
// Next finds there can be decided.
func (s *State) dropStale() {
	s.endedFrames = s.endedFrames[leading(s.endedFrames, func(f *frame) bool {
		return f.completing || s.endObsolete(f)
	}):]
	s.failing = s.failing[leading(s.failing, func(f *frame) bool { return f.stopped != "" || f.unsettled == 0 }):]
	s.deadlines = s.deadlines[leading(s.deadlines, func(t timer) bool { return t.at.f.stopped != "" || t.at.f.allSettled() || s.endObsolete(t.at.f) }):]
	s.retries = s.retries[leading(s.retries, func(t timer) bool { return !t.current(Retrying) }):]
	s.waits = s.waits[leading(s.waits, func(t timer) bool { return !t.current(Waiting) }):]
	s.readyNoSlot = s.readyNoSlot[leading(s.readyNoSlot, func(at place) bool { return at.f.node(at.i).status != Pending }):]
	s.readyFrames = s.readyFrames[leading(s.readyFrames, s.dropDecided):]
}

// endObsolete says that what came of a frame has been told: its node has settled, or is tried again.
func (s *State) endObsolete(f *frame) bool {
	if f.parent.f == nil {
		return s.result != nil
	}
	return f.parent.f.children[f.parent.i] != f || f.parent.f.node(f.parent.i).status != Running
}

// dropDecided takes what was decided out of the front of a frame's ready nodes, and says whether
// none are left.
func (s *State) dropDecided(f *frame) bool {
	for len(f.ready) > 0 && f.nodes[f.ready[0]].status != Pending {
		f.ready.pop()
		s.readyCount--
	}
	f.queued = len(f.ready) > 0
	return !f.queued
}

// leading is how many elements at the front of a list are past.
func leading[T any](list []T, stale func(T) bool) int {
	n := 0
	for n < len(list) && stale(list[n]) {
		n++
	}
	return n
}

// cancelledFrame is the frame that a cancel is about, nil when it is over.
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

// applyStep folds an event of one step.
func (s *State) applyStep(e *Event) {
	at := e.at
	if at.f == nil {
		at = s.find(e.Node)
	}
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

// startWait leaves a node to the outside.
func (s *State) startWait(at place, e *Event) {
	n := at.f.node(at.i)
	n.res = e.Result
	s.setStatus(at, Waiting)
	s.addTimer(timer{due: at.waitDue(), at: at, attempt: n.attempt, wait: e.Seq})
}

// setStatus gives a node another status.
func (s *State) setStatus(at place, to Status) {
	n := at.f.node(at.i)
	from := n.status
	n.status = to
	at.f.walk.statusChanged(s, at.f, from, to)
}

// maxAttempt keeps what a broken journal says from wrapping round.
const maxAttempt = 1 << 30

func (s *State) startNode(at place, e *Event) {
	n := at.f.node(at.i)
	s.setStatus(at, Running)
	n.attempt, n.everStarted = int32(min(max(e.Attempt, 1), maxAttempt)), true
	n.outlasts = n.outlasts || e.Outlasts
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
	c.started = e.Time
	s.armDeadline(c, e.Time)
	if def.Graph != nil && def.Bind == nil && at.f.bound {
		s.bindGraph(c, at.view().Args())
	}
}

// armDeadline arms a frame's time limit: its graph's own, that of a try of the node that
// holds it, or what is left for cleaning up, whichever ends first.
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
		if up.stopped != "" {
			sooner(up.cleanupDeadline)
		}
	}
	if !due.IsZero() {
		s.deadlines.add(timer{due: due, at: place{f, -1}})
	}
}

// cancelFrame folds a cancel of a frame. What still runs in it afterwards has until
// s.owner.cleanup is over, or as long as what surrounds it where that was cancelled
// before.
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
	// What was cancelled must not queue for a slot.
	s.readyFrames = moveToFront(s.readyFrames, func(f *frame) bool { return f.stopped != "" })
}

// moveToFront moves what is wanted before the rest; each keeps its order.
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

// markCancelled marks a frame and everything open inside it as cancelled. What has not
// started settles as it becomes ready; what runs is told by the loop. What would be
// started after a cancel as well goes on, for as long as there is time to clean up. A
// stop by force reaches that too.
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
	for i, c := range f.children {
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
		delete(f.children, at.i) // its arguments were refused: nothing in it ever was
	}
	if fails := f.walk.nodeSettled(s, f, at.i, r.taints()); fails && f.stopped == "" {
		s.failing = append(s.failing, f)
	}
	if f.unsettled == 0 {
		s.queueEnd(f)
	}
}

// queueEnd says that a frame's own result is due: once, though its last node may have
// settled before the frame was bound, and it is bound then.
func (s *State) queueEnd(f *frame) {
	if !f.endQueued {
		f.endQueued = true
		s.endedFrames = append(s.endedFrames, f)
	}
}

// nodeReady is called when a node waits for nothing any more.
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

// queueReady puts a node that waits for nothing any more where Next finds it.
func (s *State) queueReady(f *frame, i int32) {
	f.nodes[i].readyAt = s.now.UnixNano()
	if f.def(i).NoSlot {
		s.readyNoSlot = append(s.readyNoSlot, place{f, i})
		return
	}
	f.ready.push(i)
	s.readyCount++
	if !f.queued {
		f.queued = true
		s.readyFrames = append(s.readyFrames, f)
	}
}

// notifyDependents tells the dependents of a settled node that they wait for one less, and
// taints them when it went badly.
func (s *State) notifyDependents(f *frame, i int32, bad bool) {
	for _, d := range f.walk.dependents(i) {
		n := &f.nodes[d]
		n.tainted = n.tainted || bad
		if n.pending--; n.pending == 0 {
			s.nodeReady(f, d)
		}
	}
}

// bindGraph hands a graph its arguments and lets its nodes go.
func (s *State) bindGraph(f *frame, a Args) {
	f.args, f.bound = a, true
	for i := range f.nodes {
		if n := &f.nodes[i]; n.pending == 0 && n.status == Pending && !f.def(int32(i)).isJoin() {
			s.queueReady(f, int32(i))
		}
	}
	s.continueBound(f)
}

// continueBound continues what waited for a frame to be bound: tries and waits that were due, and
// the graphs under way inside that have no arguments of their own. Both are there only when
// the run was taken over from a journal.
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
