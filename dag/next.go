package dag

import (
	"slices"
	"time"
)

// Next is what happens next at that time, as an event that has not happened yet: the
// caller applies it and asks again, until ok is false and there is nothing to decide;
// then it records the events and acts on them. Next only reads: asked twice, it gives
// the same answer. free is how many leaves may start. wake is when to ask again at the
// latest where there is nothing to decide, zero when only a report can change anything.
func (s *State) Next(now time.Time, free int) (e Event, wake time.Time, ok bool) {
	switch {
	case s.result != nil:
		return e, wake, false
	case !s.started:
		return Event{Kind: RunStarted}, wake, true
	case len(s.ended) > 0:
		return s.ending(s.ended[0], now), wake, true
	case len(s.failing) > 0:
		return s.cancelling(s.failing[0], ReasonFailFast), wake, true
	}
	var due time.Time
	if e, wake, ok = s.expired(now); ok {
		return e, wake, ok
	}
	if e, due, ok = s.elapsed(now); ok {
		return e, wake, ok
	}
	wake = sooner(wake, due)
	if e, due, ok = s.retry(now, free); ok {
		return e, wake, ok
	}
	e, ok = s.readyNode(now, free)
	return e, sooner(wake, due), ok
}

// sooner is the earlier of two times; zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// ending ends a graph or a loop whose nodes have all settled, or has a worker complete its
// result first.
func (s *State) ending(f *frame, now time.Time) Event {
	if f.walk.complete(f) != nil {
		return Event{Kind: stepEnding, Node: f.path(-1), at: place{f, -1}}
	}
	r := f.end()
	r.Ended = now
	return s.finished(f, r, now)
}

// finished is the event that follows the end of a frame in r.
func (s *State) finished(f *frame, r *Result, now time.Time) Event {
	if f.up.f == nil {
		r.Notes = append(s.notes(r.Status), r.Notes...)
		return Event{Kind: RunFinished, Result: r, Reason: r.Reason}
	}
	return s.outcome(f.up, r, now)
}

// refused is the event that follows where a graph or a loop could not have its arguments:
// nothing in it ever runs.
func (s *State) refused(at place, r *Result, now time.Time) Event {
	if at.f.children[at.i].late && r.Status == Cancelled {
		r.Status, r.ExitCode, r.Reason = TimedOut, ExitTimeout, ReasonTimeout
	}
	return s.outcome(at, r, now)
}

// outcome is the event that follows a try that ended in r.
func (s *State) outcome(at place, r *Result, now time.Time) Event {
	n, def := at.f.node(at.i), at.f.def(at.i)
	if n.res != nil && !n.res.Started.IsZero() {
		r.Started = n.res.Started // of the first try
	}
	r.Attempts, r.Fallback = int(n.attempt), n.fallback
	e := Event{Node: at.f.path(at.i), Attempt: int(n.attempt), Reason: r.Reason, Result: r, at: at}
	e.Kind = def.Policy.after(at.view(), r, n.fallback || n.status == Waiting, at.f.stopped != "")
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

func (s *State) cancelling(f *frame, reason string) Event {
	return Event{Kind: RunCancelling, Node: f.path(-1), Reason: reason, at: f.up}
}

// expired cancels a graph whose time is up.
func (s *State) expired(now time.Time) (e Event, due time.Time, ok bool) {
	if len(s.deadline) == 0 {
		return e, due, false
	}
	t := s.deadline[0]
	if t.due.After(now) {
		return e, t.due, false
	}
	return s.cancelling(t.at.f, ReasonTimeout), due, true
}

// elapsed ends a wait whose time is over, or that a cancel ended.
func (s *State) elapsed(now time.Time) (e Event, due time.Time, ok bool) {
	if len(s.waits) == 0 {
		return e, due, false
	}
	t := s.waits[0]
	wait := t.at.f.node(t.at.i).res.Wait
	switch {
	case t.due.Equal(forever):
		return e, due, false
	case t.due.After(now):
		return e, t.due, false
	case wait.over(now):
		return s.outcome(t.at, wait.Then.after(now), now), due, true
	}
	return s.cancelled(t.at, now), due, true
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

// retry starts a try that is due, if there is a slot for it: else a freed slot wakes
// the loop.
func (s *State) retry(now time.Time, free int) (e Event, due time.Time, ok bool) {
	if len(s.again) == 0 {
		return e, due, false
	}
	t := s.again[0]
	switch {
	case t.due.After(now):
		return e, t.due, false
	case t.at.f.stopped != "":
		return s.cancelled(t.at, now), due, true
	}
	e, ok = s.begin(t.at, t.due.UnixNano(), now, free)
	return e, due, ok
}

// begin decides the start of a node's next try, which could have begun at since;
// false when no slot is free.
func (s *State) begin(at place, since int64, now time.Time, free int) (Event, bool) {
	def := at.f.def(at.i)
	e := Event{Kind: StepStarted, Node: at.f.path(at.i), Attempt: int(at.f.node(at.i).attempt) + 1, Time: now, at: at}
	if def.slotted() {
		if free <= 0 {
			return e, false
		}
		e.Queued = time.Duration(max(now.UnixNano()-max(since, at.f.began.UnixNano()), 0))
	}
	e.Outlasts = !def.Cleanup && (at.f.stopped != "" || s.outlasts(at))
	return e, true
}

// readyNode decides a node that waits for nothing any more: those that need no slot first,
// then frame by frame and in plan order within each.
func (s *State) readyNode(now time.Time, free int) (e Event, ok bool) {
	if len(s.idle) > 0 {
		return s.node(s.idle[0], now, free)
	}
	if len(s.runnable) > 0 {
		f := s.runnable[0]
		return s.node(place{f, f.ready[0]}, now, free)
	}
	return e, false
}

// node decides one ready node: the truth table of docs/states.md. It answers
// false when the node must wait for a slot.
func (s *State) node(at place, now time.Time, free int) (Event, bool) {
	n, def := at.f.node(at.i), at.f.def(at.i)
	sees := UsesResults
	if def.When != nil {
		sees = def.When.Uses
	}
	switch {
	case at.f.stopped != "" && sees != UsesCancel:
		return s.cancelled(at, now), true
	case n.tainted && sees == UsesResults:
		return s.settled(at, now, Result{Status: Skipped, Reason: ReasonUpstreamFailed}), true
	case def.When == nil:
		return s.begin(at, n.since, now, free)
	}
	ok, err := def.When.Eval(at.view())
	switch {
	case err != nil:
		r := Result{Status: Failed, ExitCode: 1, Reason: ReasonCondition, Message: err.Error(), Tolerated: def.Policy.Tolerate}
		return s.settled(at, now, r), true
	case !ok:
		return s.settled(at, now, Result{Status: Skipped, Reason: ReasonCondition}), true
	}
	return s.begin(at, n.since, now, free)
}

// outlasts says whether a node that starts now would start after a cancel as well.
// Then one that comes while it runs does not stop it.
func (s *State) outlasts(at place) bool {
	when := at.f.def(at.i).When
	if when == nil || when.Uses != UsesCancel {
		return false
	}
	v := at.view()
	v.stopped = true
	yes, err := when.Eval(v)
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
