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
	case runOwned, stepBound, stepEnding:
	default:
		s.apply(&e)
	}
}

func (s *State) apply(e *Event) {
	s.seq, s.now = max(s.seq, e.Seq), e.Time
	switch e.Kind {
	case RunStarted:
		s.started, s.root.began = true, e.Time
		s.limit(s.root, e.Time)
	case RunCancelling:
		if f := s.stopping(e); f != nil {
			s.cancel(f, e)
		}
	case RunFinished:
		s.result = e.Result
	case RunResumed:
		s.resume(e)
	case runOwned:
		s.owner = *e.owner
	case stepEnding:
		e.at.f.ending = true
	default:
		s.step(e)
	}
	s.tidy()
}

// tidy takes out of the front of every queue what an event has overtaken, so that what
// Next finds there can be decided.
func (s *State) tidy() {
	s.ended = s.ended[leading(s.ended, func(f *frame) bool {
		return f.ending || s.gone(f)
	}):]
	s.failing = s.failing[leading(s.failing, func(f *frame) bool { return f.stopped != "" || f.open == 0 }):]
	s.deadline = s.deadline[leading(s.deadline, func(t timer) bool { return t.at.f.stopped != "" || t.at.f.over() || s.gone(t.at.f) }):]
	s.again = s.again[leading(s.again, func(t timer) bool { return !t.current(Retrying) }):]
	s.waits = s.waits[leading(s.waits, func(t timer) bool { return !t.current(Waiting) }):]
	s.idle = s.idle[leading(s.idle, func(at place) bool { return at.f.node(at.i).status != Pending }):]
	s.runnable = s.runnable[leading(s.runnable, s.drained):]
}

// gone says that what came of a frame has been told: its node has settled, or is tried again.
func (s *State) gone(f *frame) bool {
	if f.up.f == nil {
		return s.result != nil
	}
	return f.up.f.children[f.up.i] != f || f.up.f.node(f.up.i).status != Running
}

// drained takes what was decided out of the front of a frame's ready nodes, and says whether
// none are left.
func (s *State) drained(f *frame) bool {
	for len(f.ready) > 0 && f.nodes[f.ready[0]].status != Pending {
		f.ready.pop()
		s.ready--
	}
	f.queued = len(f.ready) > 0
	return !f.queued
}

// leading is how many elements at the front of a list are past.
func leading[T any](list []T, past func(T) bool) int {
	n := 0
	for n < len(list) && past(list[n]) {
		n++
	}
	return n
}

// stopping is the frame that a cancel is about, nil when it is over.
func (s *State) stopping(e *Event) *frame {
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

// step folds an event of one step.
func (s *State) step(e *Event) {
	at := e.at
	if at.f == nil {
		at = s.find(e.Node)
	}
	if at.f == nil || at.f.node(at.i).status.Settled() {
		return
	}
	switch n := at.f.node(at.i); e.Kind {
	case StepStarted:
		s.start(at, e)
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
		s.move(at, Retrying)
		s.hold(timer{due: e.Due, at: at, attempt: n.attempt})
	case StepWaiting:
		if n.status == Running && at.f.def(at.i).leaf() && e.Result != nil && e.Result.Wait != nil {
			s.await(at, e)
		}
	case StepFallback:
		if n.status == Waiting {
			return
		}
		n.res, n.fallback = e.Result, true
		delete(at.f.children, at.i)
	case StepFinished:
		if e.Result != nil && e.Result.Status.Settled() {
			s.settle(at, e.Result)
		}
	}
}

// await leaves a node to the outside.
func (s *State) await(at place, e *Event) {
	n := at.f.node(at.i)
	n.res = e.Result
	s.move(at, Waiting)
	s.hold(timer{due: at.waitDue(), at: at, attempt: n.attempt, wait: e.Seq})
}

// move gives a node another status.
func (s *State) move(at place, to Status) {
	n := at.f.node(at.i)
	from := n.status
	n.status = to
	at.f.walk.moved(s, at.f, from, to)
}

// maxAttempt keeps what a broken journal says from wrapping round.
const maxAttempt = 1 << 30

func (s *State) start(at place, e *Event) {
	n := at.f.node(at.i)
	s.move(at, Running)
	n.attempt, n.began = int32(min(max(e.Attempt, 1), maxAttempt)), true
	n.spared = n.spared || e.Outlasts
	def := at.f.def(at.i)
	if def.leaf() {
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
	c.began = e.Time
	s.limit(c, e.Time)
	if def.Graph != nil && def.Bind == nil && at.f.bound {
		s.bind(c, at.view().Args())
	}
}

// limit arms a frame's time limit: its graph's own, that of a try of the node that
// holds it, or what is left for cleaning up, whichever ends first.
func (s *State) limit(f *frame, now time.Time) {
	var due time.Time
	sooner := func(t time.Time) {
		if due.IsZero() || t.Before(due) {
			due = t
		}
	}
	if d := f.walk.timeout(); d > 0 {
		sooner(now.Add(d))
	}
	if up := f.up.f; up != nil {
		if d := up.def(f.up.i).Policy.Timeout; d > 0 {
			sooner(now.Add(d))
		}
		if up.stopped != "" {
			sooner(up.until)
		}
	}
	if !due.IsZero() {
		s.deadline.add(timer{due: due, at: place{f, -1}})
	}
}

// cancel folds a cancel of a frame. What still runs in it afterwards has until
// s.owner.cleanup is over, or as long as what surrounds it where that was cancelled
// before.
func (s *State) cancel(f *frame, e *Event) {
	until := e.Time.Add(s.owner.cleanup)
	for up := f.up.f; up != nil; up = up.up.f {
		if up.stopped != "" && up.until.Before(until) {
			until = up.until
		}
	}
	f.late = f.late || f.stopped == "" && e.Reason == ReasonTimeout
	s.stop(f, cmp.Or(e.Reason, ReasonCancelled), until)
	s.again.move(func(t timer) time.Time { return t.at.retryDue(t.due) })
	s.waits.move(func(t timer) time.Time { return t.at.waitDue() })
	// What was cancelled must not queue for a slot.
	s.runnable = front(s.runnable, func(f *frame) bool { return f.stopped != "" })
}

// front moves what is wanted before the rest; each keeps its order.
func front[T any](list []T, wanted func(T) bool) []T {
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

// stop marks a frame and everything open inside it as cancelled. What has not
// started settles as it becomes ready; what runs is told by the loop. What would be
// started after a cancel as well goes on, for as long as there is time to clean up. A
// stop by force reaches that too.
func (s *State) stop(f *frame, reason string, until time.Time) {
	fresh := f.stopped == ""
	if !fresh && reason != ReasonForced {
		return
	}
	if fresh {
		f.stopped, f.until = reason, until
	}
	if reason == ReasonForced {
		for i := range f.nodes {
			f.nodes[i].spared = false
		}
	}
	for i, c := range f.children {
		switch {
		case f.nodes[i].status.Settled():
		case reason != ReasonForced && c.stopped == "" && f.nodes[i].spared:
			s.deadline.add(timer{due: f.until, at: place{c, -1}})
		default:
			s.stop(c, reason, f.until)
		}
	}
}

func (s *State) settle(at place, r *Result) {
	f, n := at.f, at.f.node(at.i)
	if n.status == Waiting {
		s.waits.drop(at, n.res.Wait.due())
	}
	n.res = r
	s.move(at, r.Status)
	f.open--
	if c := f.children[at.i]; c != nil && !c.over() {
		delete(f.children, at.i) // its arguments were refused: nothing in it ever was
	}
	if fails := f.walk.settled(s, f, at.i, r.bad()); fails && f.stopped == "" {
		s.failing = append(s.failing, f)
	}
	if f.open == 0 {
		s.end(f)
	}
}

// end says that a frame's own result is due: once, though its last node may have
// settled before the frame was bound, and it is bound then.
func (s *State) end(f *frame) {
	if !f.ended {
		f.ended = true
		s.ended = append(s.ended, f)
	}
}

// release is called when a node waits for nothing any more.
func (s *State) release(f *frame, i int32) {
	if def := f.def(i); def.join() {
		if def.Summarizes != nil {
			f.nodes[i].res = f.sumUp(def)
		}
		s.pass(f, i, f.nodes[i].tainted && def.Summarizes == nil)
		return
	}
	if f.bound && f.nodes[i].status == Pending {
		s.queue(f, i)
	}
}

// queue puts a node that waits for nothing any more where Next finds it.
func (s *State) queue(f *frame, i int32) {
	f.nodes[i].since = s.now.UnixNano()
	if f.def(i).NoSlot {
		s.idle = append(s.idle, place{f, i})
		return
	}
	f.ready.push(i)
	s.ready++
	if !f.queued {
		f.queued = true
		s.runnable = append(s.runnable, f)
	}
}

// pass tells the dependents of a settled node that they wait for one less, and
// taints them when it went badly.
func (s *State) pass(f *frame, i int32, bad bool) {
	for _, d := range f.walk.dependents(i) {
		n := &f.nodes[d]
		n.tainted = n.tainted || bad
		if n.pending--; n.pending == 0 {
			s.release(f, d)
		}
	}
}

// bind hands a graph its arguments and lets its nodes go.
func (s *State) bind(f *frame, a Args) {
	f.args, f.bound = a, true
	for i := range f.nodes {
		if n := &f.nodes[i]; n.pending == 0 && n.status == Pending && !f.def(int32(i)).join() {
			s.queue(f, int32(i))
		}
	}
	s.wake(f)
}

// wake continues what waited for a frame to be bound: tries and waits that were due, and
// the graphs under way inside that have no arguments of their own. Both are there only when
// the run was taken over from a journal.
func (s *State) wake(f *frame) {
	held := f.held
	f.held = nil
	for _, t := range held {
		s.hold(t)
	}
	for i := 0; i < len(f.nodes) && len(f.children) > 0; i++ {
		at := place{f, int32(i)}
		def := f.def(at.i)
		if c := f.children[at.i]; c != nil && !c.bound && f.nodes[i].status == Running && def.Graph != nil && def.Bind == nil {
			s.bind(c, at.view().Args())
		}
	}
	if f.open == 0 {
		s.end(f)
	}
}
