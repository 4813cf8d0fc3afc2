package dag

import (
	"fmt"
	"slices"
	"time"
)

// Next decides what happens now, as events that have not happened yet: the
// caller applies them, every one and in order, and asks again until there is
// nothing to decide; then it records them and acts on them. Next changes no node,
// but what it has decided it does not decide again. free is how many leaves may
// start. wake is when to ask again at the latest, zero when only a report can
// change anything.
//
// The decisions are appended to ds.
func (s *State) Next(ds []Event, now time.Time, free int) (_ []Event, wake time.Time) {
	if s.result != nil {
		return ds, time.Time{}
	}
	if !s.started {
		return append(ds, Event{Kind: RunStarted}), time.Time{}
	}
	s.decided, s.most = ds, len(ds)+maxBatch
	free = s.finishFrames(now, free)
	s.stopFailing()
	wake = s.expired(now)
	if len(s.decided) > len(ds) {
		return s.decided, wake // what ends or stops changes what may start
	}
	wake = sooner(wake, s.elapsed(now))
	free, due := s.retries(now, free)
	s.readyNodes(now, free)
	return s.decided, sooner(wake, due)
}

// sooner is the earlier of two times; zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (s *State) decide(e Event) { s.decided = append(s.decided, e) }

// full says that the rest is for the next call of Next: many nodes may be cancelled at
// one time, and a turn records no more than a batch.
func (s *State) full() bool { return len(s.decided) >= s.most }

// finishFrames decides what becomes of graphs whose nodes have all settled. One
// that goes on with a fallback, which is a leaf, may have to wait for a slot.
func (s *State) finishFrames(now time.Time, free int) int {
	blocked := s.ended[:0]
	for _, f := range s.ended {
		if f.result == nil {
			f.result = f.end()
			f.result.Started, f.result.Ended = f.began, now
		}
		if f.up.f == nil {
			f.result.Notes = append(s.notes(f.result.Status), f.result.Notes...)
			s.decide(Event{Kind: RunFinished, Result: f.result, Reason: f.result.Reason})
			continue
		}
		if f.up.f.children[f.up.i] != f || f.up.f.node(f.up.i).status != Running {
			continue // its end was told by an event already
		}
		e := s.outcome(f.up, f.result, now)
		if e.Kind == StepFallback {
			if free == 0 {
				blocked = append(blocked, f)
				continue
			}
			free--
		}
		s.decide(e)
	}
	s.ended = blocked
	return free
}

// outcome is the event that follows a try that ended in r.
func (s *State) outcome(at place, r *Result, now time.Time) Event {
	n, def := at.f.node(at.i), at.f.def(at.i)
	if n.res != nil && !n.res.Started.IsZero() {
		r.Started = n.res.Started // of the first try
	}
	r.Attempts, r.Fallback = int(n.attempt), n.fallback
	e := Event{Node: at.f.path(at.i), Attempt: int(n.attempt), Reason: r.Reason, Result: r, at: at}
	e.Kind = def.Policy.after(View(at), r, n.fallback || n.status == Waiting, at.f.stopped != "")
	switch e.Kind {
	case StepWaiting:
		if d := def.Policy.Timeout; d > 0 {
			r.Wait = r.Wait.limited(r.Ended.Add(d))
		}
		r.Ended = time.Time{}
	case StepRetrying:
		e.Due = now.Add(def.Policy.Backoff.wait(int(n.attempt)))
	case StepFinished:
		r.Tolerated = def.Policy.Tolerate && (r.Status == Failed || r.Status == TimedOut)
	}
	return e
}

func (s *State) stopFailing() {
	for _, f := range s.failing {
		if f.stopped == "" && f.open > 0 {
			s.decide(s.cancelling(f, ReasonFailFast))
		}
	}
	s.failing = s.failing[:0]
}

func (s *State) cancelling(f *frame, reason string) Event {
	return Event{Kind: RunCancelling, Node: f.path(-1), Reason: reason, at: f.up}
}

// expired cancels graphs whose time is up and tells when the next one's will be.
func (s *State) expired(now time.Time) time.Time {
	for len(s.deadline) > 0 {
		t := s.deadline[0]
		over := t.at.f.stopped != "" || t.at.f.over() || t.at.f.result != nil
		if !over && t.due.After(now) {
			return t.due
		}
		if !over {
			s.decide(s.cancelling(t.at.f, ReasonTimeout))
		}
		s.deadline = s.deadline[1:]
	}
	return time.Time{}
}

// elapsed ends the waits whose time is over, and those that a cancel ended.
func (s *State) elapsed(now time.Time) (due time.Time) {
	for len(s.waits) > 0 && !s.full() {
		t := s.waits[0]
		if t.due.After(now) {
			if t.due.Equal(forever) {
				return time.Time{}
			}
			return t.due
		}
		s.waits = s.waits[1:]
		f, n := t.at.f, t.at.f.node(t.at.i)
		switch {
		case n.status != Waiting || n.attempt != t.attempt:
			// What became of it was told by an event already.
		case !f.bound: // taken over from a journal, and its arguments are not there yet
			f.held = append(f.held, t)
		case n.res.Wait.over(now):
			s.decide(s.outcome(t.at, n.res.Wait.Then.after(now), now))
		case n.spared && !n.res.Wait.Asks && now.Before(f.until):
			t.due = sooner(n.res.Wait.Until, f.until)
			s.waits.add(t)
		default:
			s.decide(s.cancelled(t.at, now))
		}
	}
	return time.Time{}
}

// answered is the event that ends a wait because of an answer. early says that its
// graph has no arguments yet: ask again. An answer to what does not wait, or waits
// anew, is late: nothing follows it.
func (s *State) answered(a Answer, now time.Time) (e Event, early, late bool) {
	at := s.find(a.Node)
	if at.f == nil || at.f.node(at.i).status != Waiting {
		return e, false, true
	}
	isIt := func(t timer) bool { return t.at == at && t.wait == a.Wait }
	switch {
	case !slices.ContainsFunc(s.waits, isIt) && !slices.ContainsFunc(at.f.held, isIt):
		return e, false, true
	case !at.f.bound:
		return e, true, false
	}
	return s.outcome(at, a.Result.after(now), now), false, false
}

// retries starts the tries that are due, as far as there are slots.
func (s *State) retries(now time.Time, free int) (left int, due time.Time) {
	for len(s.again) > 0 && !s.full() {
		t := s.again[0]
		if t.due.After(now) {
			return free, t.due
		}
		switch n := t.at.f.node(t.at.i); {
		case n.status != Retrying || n.attempt != t.attempt:
			// Its next try was told by an event already.
		case !t.at.f.bound: // taken over from a journal, and its arguments are not there yet
			t.at.f.held = append(t.at.f.held, t)
		case t.at.f.stopped != "":
			s.decide(s.cancelled(t.at, now))
		case !s.begin(t.at, t.due.UnixNano(), now, &free):
			return free, time.Time{} // a freed slot wakes the loop
		}
		s.again = s.again[1:]
	}
	return free, time.Time{}
}

// begin decides the start of a node's next try, which could have begun at since;
// false when no slot is free.
func (s *State) begin(at place, since int64, now time.Time, free *int) bool {
	e := Event{Kind: StepStarted, Node: at.f.path(at.i), Attempt: int(at.f.node(at.i).attempt) + 1, Time: now, at: at}
	if at.f.def(at.i).slotted() {
		if *free == 0 {
			return false
		}
		*free--
		e.Queued = time.Duration(max(now.UnixNano()-max(since, at.f.began.UnixNano()), 0))
	}
	s.decide(e)
	return true
}

// readyNodes decides nodes that wait for nothing any more, frame by frame and in
// plan order within each.
func (s *State) readyNodes(now time.Time, free int) {
	for l := range s.runnable {
		s.readyLane(l, now, &free)
	}
}

func (s *State) readyLane(l int, now time.Time, free *int) {
	for len(s.runnable[l]) > 0 {
		f := s.runnable[l][0]
		in := &f.lanes[l]
		for len(in.ready) > 0 {
			i := in.ready[0]
			if s.full() || f.nodes[i].status == Pending && !s.node(place{f, i}, now, free) {
				return
			}
			in.pop()
			s.ready[l]--
		}
		in.queued = false
		s.runnable[l] = s.runnable[l][1:]
	}
	s.runnable[l] = nil
}

// node decides one ready node: the truth table of docs/states.md. It answers
// false when the node must wait for a slot.
func (s *State) node(at place, now time.Time, free *int) bool {
	n, def := at.f.node(at.i), at.f.def(at.i)
	sees := SeesResults
	if def.When != nil {
		sees = def.When.Sees
	}
	switch {
	case at.f.stopped != "" && sees != SeesCancel:
		s.decide(s.cancelled(at, now))
		return true
	case n.tainted && sees == SeesResults:
		s.decide(s.settled(at, now, Result{Status: Skipped, Reason: ReasonUpstreamFailed}))
		return true
	case def.When == nil:
		return s.begin(at, n.since, now, free)
	}
	ok, err := def.When.Eval(View(at))
	switch {
	case err != nil:
		r := Result{Status: Failed, ExitCode: 1, Reason: ReasonCondition, Message: err.Error(), Tolerated: def.Policy.Tolerate}
		s.decide(s.settled(at, now, r))
	case !ok:
		s.decide(s.settled(at, now, Result{Status: Skipped, Reason: ReasonCondition}))
	default:
		return s.begin(at, n.since, now, free)
	}
	return true
}

// outlasts says whether a node that starts now would start after a cancel as well.
// Then one that comes while it runs does not stop it.
func (s *State) outlasts(at place) bool {
	when := at.f.def(at.i).When
	if when == nil || when.Sees != SeesCancel {
		return false
	}
	at.f.stopped = ReasonCancelled // for as long as it is asked
	yes, err := when.Eval(View(at))
	at.f.stopped = ""
	return yes && err == nil
}

func (s *State) settled(at place, now time.Time, r Result) Event {
	r.Ended = now
	return Event{Kind: StepFinished, Node: at.f.path(at.i), Reason: r.Reason, Result: &r, at: at}
}

// cancelled is the end of a node that a cancel kept from starting (again).
func (s *State) cancelled(at place, now time.Time) Event {
	r := Result{Status: Cancelled, Reason: at.f.stopped}
	if prev := at.f.node(at.i).res; prev != nil { // it had tried before
		r.Started, r.Attempts = prev.Started, prev.Attempts
		r.Stdout, r.Stderr, r.ExitCode = prev.Stdout, prev.Stderr, prev.ExitCode
	}
	return s.settled(at, now, r)
}

// end is the result of a walk whose nodes have all settled.
func (f *frame) end() *Result {
	if f.rounds != nil {
		return f.gather()
	}
	r := f.finish()
	if f.up.f == nil && r.Status != Succeeded && !f.endRan() {
		r.Stdout, r.Value, r.Structured, r.Content = nil, nil, false, nil
	}
	if fin := f.g.settings.Finish; fin != nil {
		fin(View{f, -1}, r)
	}
	return r
}

// endRan reports whether the last step of a graph, and if that failed as a graph the
// last one inside it, ran. Without success only its output is the run's: what an earlier
// step printed is not what the run was for.
func (f *frame) endRan() bool {
	for i := len(f.nodes) - 1; i >= 0; i-- {
		n, def := &f.nodes[i], f.def(int32(i))
		if def.join() || def.Aside || def.Silent {
			continue
		}
		inner := f.children[int32(i)]
		return n.status.Executed() && (n.status.well() || inner == nil || inner.rounds != nil || inner.endRan())
	}
	return false
}

// finish is the result of a graph as far as its nodes have settled: failed when a
// step failed untolerated, with the exit code of the first such step in plan
// order; its output is that of the last executed step in plan order.
func (f *frame) finish() *Result {
	var t tally
	for i := range f.nodes {
		t.count(f, int32(i))
	}
	return t.result(f)
}

// sumUp is finish over nothing but what a join sums up.
func (f *frame) sumUp(join *Node) *Result {
	var t tally
	for _, id := range join.Sums {
		t.count(f, f.g.index[id])
	}
	return t.result(f)
}

// tally is what nodes that have settled come to together. Places are by number plus
// one, so that the zero tally is empty.
type tally struct {
	failed, last int32 // the first that failed, the last that was executed
	cancelled    bool
}

func (t *tally) count(f *frame, i int32) {
	n, def := &f.nodes[i], f.def(i)
	if n.res == nil || !n.status.Settled() || def.join() || def.Aside {
		return
	}
	if n.res.bad() && n.status != Skipped && (t.failed == 0 || i < t.failed) {
		t.failed = i + 1
	}
	if n.status.Executed() && !def.Silent {
		t.last = max(t.last, i+1)
	}
	t.cancelled = t.cancelled || n.status == Cancelled
}

func (t *tally) result(f *frame) *Result {
	r := &Result{Status: Succeeded}
	failed, last, cancelled := t.failed-1, t.last-1, t.cancelled
	switch {
	case f.late:
		r.Status, r.ExitCode, r.Reason = TimedOut, ExitTimeout, ReasonTimeout
	case cancelled && (failed < 0 || f.stopped != ReasonFailFast):
		r.Status, r.ExitCode, r.Reason = Cancelled, ExitCancelled, f.stopped
	case failed >= 0:
		bad := f.nodes[failed].res
		r.Status, r.ExitCode, r.Reason = Failed, max(bad.ExitCode, 1), bad.Reason
		r.Culprit = f.def(failed).ID
		r.Problem, r.Permanent = bad.Problem, bad.Problem != nil && bad.Permanent
		r.Message = fmt.Sprintf("step %s %s", f.path(failed), f.nodes[failed].status)
	}
	if last >= 0 {
		out := f.nodes[last].res
		r.Stdout, r.Value, r.Structured, r.Content = out.Stdout, out.Value, out.Structured, out.Content
	}
	return r
}
