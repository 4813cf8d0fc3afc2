package dag

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// Apply folds one event into the state. Events must come in the order they were
// made. What cannot have happened is ignored: an event about a node that does not
// exist or has settled, an end without an end state.
func (s *State) Apply(e Event) { s.apply(&e) }

func (s *State) apply(e *Event) {
	switch e.Kind {
	case RunStarted:
		s.started, s.root.began = true, e.Time
		s.limit(s.root, e.Time, 0)
	case RunCancelling:
		if f := s.walk(e); f != nil {
			s.cancel(f, e)
		}
	case RunFinished:
		s.result = e.Result
	default:
		s.step(e)
	}
}

// walk is the frame that a cancel is about, nil when it is over.
func (s *State) walk(e *Event) *frame {
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
	case StepRetrying:
		n.status, n.res = Retrying, e.Result
		delete(at.f.children, at.i)
		s.again.add(timer{e.Due, at, n.attempt})
	case StepFallback:
		n.res, n.fallback = e.Result, true
		delete(at.f.children, at.i)
	case StepFinished:
		if e.Result != nil && e.Result.Status.Settled() {
			s.settle(at, e.Result)
		}
	}
}

// maxAttempt keeps what a broken journal says from wrapping round.
const maxAttempt = 1 << 30

func (s *State) start(at place, e *Event) {
	n := at.f.node(at.i)
	n.status, n.attempt = Running, int32(min(max(e.Attempt, 1), maxAttempt))
	def := &at.f.g.nodes[at.i]
	if def.Graph == nil {
		return
	}
	prefix := string(at.f.path(at.i))
	if e.Attempt > 1 {
		prefix += "#" + strconv.Itoa(e.Attempt)
	}
	c := s.open(def.Graph, prefix+"/", at)
	if at.f.children == nil {
		at.f.children = map[int32]*frame{}
	}
	at.f.children[at.i] = c
	c.began = e.Time
	s.limit(c, e.Time, def.Policy.Timeout)
	if def.Bind == nil {
		s.bind(c, at.f.args)
	}
}

// limit arms a frame's time limit: its graph's own, that of a try of the node that
// holds it, or what is left for cleaning up, whichever ends first.
func (s *State) limit(f *frame, now time.Time, try time.Duration) {
	var due time.Time
	sooner := func(t time.Time) {
		if due.IsZero() || t.Before(due) {
			due = t
		}
	}
	if d := f.g.settings.Timeout; d > 0 {
		sooner(now.Add(d))
	}
	if try > 0 {
		sooner(now.Add(try))
	}
	if up := f.up.f; up != nil && up.stopped != "" {
		sooner(up.until)
	}
	if !due.IsZero() {
		s.deadline.add(timer{due: due, at: place{f, -1}})
	}
}

// cancel folds a cancel of a frame. What still runs in it afterwards has until
// s.cleanup is over, or as long as what surrounds it where that was cancelled
// before.
func (s *State) cancel(f *frame, e *Event) {
	until := e.Time.Add(s.cleanup)
	for up := f.up.f; up != nil; up = up.up.f {
		if up.stopped != "" && up.until.Before(until) {
			until = up.until
		}
	}
	f.late = f.late || f.stopped == "" && e.Reason == ReasonTimeout
	s.stop(f, cmp.Or(e.Reason, ReasonCancelled), until)
}

// stop marks a frame and everything open inside it as cancelled. What has not
// started settles as it becomes ready; what runs is told by the loop. A stop by
// force also reaches what was started to clean up after an earlier one.
func (s *State) stop(f *frame, reason string, until time.Time) {
	fresh := f.stopped == ""
	if !fresh && reason != ReasonForced {
		return
	}
	if fresh {
		f.stopped, f.until = reason, until
		s.again.expire(f)
	}
	for _, c := range f.children {
		s.stop(c, reason, f.until)
	}
	if fresh && f.queued { // to the front: what was cancelled must not queue for a slot
		i := slices.Index(s.runnable, f)
		copy(s.runnable[1:i+1], s.runnable[:i])
		s.runnable[0] = f
	}
}

func (s *State) settle(at place, r *Result) {
	f, n := at.f, at.f.node(at.i)
	n.status, n.res = r.Status, r
	f.open--
	if c := f.children[at.i]; c != nil && c.open > 0 {
		delete(f.children, at.i) // its arguments were refused: nothing in it ever was
	}
	bad := r.bad()
	s.pass(f, at.i, bad)
	if bad && f.g.settings.FailFast && f.stopped == "" && !f.g.nodes[at.i].Aside {
		s.failing = append(s.failing, f)
	}
	if f.open == 0 {
		s.ended = append(s.ended, f)
	}
}

// release is called when a node waits for nothing any more.
func (s *State) release(f *frame, i int32) {
	if f.g.nodes[i].join() {
		s.pass(f, i, f.nodes[i].tainted)
		return
	}
	f.push(i)
	s.ready++
	s.enqueue(f)
}

func (s *State) enqueue(f *frame) {
	if !f.queued && f.bound && len(f.ready) > 0 {
		f.queued = true
		s.runnable = append(s.runnable, f)
	}
}

// pass tells the dependents of a settled node that they wait for one less, and
// taints them when it went badly.
func (s *State) pass(f *frame, i int32, bad bool) {
	for _, d := range f.g.dependents(i) {
		n := &f.nodes[d]
		n.tainted = n.tainted || bad
		if n.pending--; n.pending == 0 {
			s.release(f, d)
		}
	}
}

// bind hands a frame its arguments and lets its nodes go.
func (s *State) bind(f *frame, a Args) {
	f.args, f.bound = a, true
	for i, n := range f.g.waits {
		if n == 0 {
			s.release(f, int32(i))
		}
	}
	if f.g.steps == 0 {
		s.ended = append(s.ended, f)
	}
}

// refuse ends a frame whose arguments could not be had: nothing in it ever runs.
func (s *State) refuse(f *frame, r *Result) {
	f.result = r
	s.ended = append(s.ended, f)
}
