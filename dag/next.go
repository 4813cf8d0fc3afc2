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
	case len(s.endedFrames) > 0:
		return s.endEvent(s.endedFrames[0], now), wake, true
	case len(s.failing) > 0:
		return s.cancellingEvent(s.failing[0], ReasonFailFast), wake, true
	}
	var due time.Time
	if e, wake, ok = s.nextTimeout(now); ok {
		return e, wake, ok
	}
	if e, due, ok = s.nextWaitEnd(now); ok {
		return e, wake, ok
	}
	wake = sooner(wake, due)
	if e, due, ok = s.nextRetry(now, free); ok {
		return e, wake, ok
	}
	e, ok = s.nextReady(now, free)
	return e, sooner(wake, due), ok
}

// sooner is the earlier of two times; zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// endEvent ends a graph or a loop whose nodes have all settled, or has a worker complete its
// result first.
func (s *State) endEvent(f *frame, now time.Time) Event {
	if f.walk.completer(f) != nil {
		return Event{Kind: stepCompleting, Node: f.path(-1), at: place{f, -1}}
	}
	r := f.finalResult()
	r.Ended = now
	return s.finishEvent(f, r, now)
}

// finishEvent is the event that follows the end of a frame in r.
func (s *State) finishEvent(f *frame, r *Result, now time.Time) Event {
	if f.parent.f == nil {
		r.Notes = append(s.notes(r.Status), r.Notes...)
		return Event{Kind: RunFinished, Result: r, Reason: r.Reason}
	}
	return s.outcomeEvent(f.parent, r, now)
}

// bindFailedEvent is the event that follows where a graph or a loop could not have its arguments:
// nothing in it ever runs.
func (s *State) bindFailedEvent(at place, r *Result, now time.Time) Event {
	if at.f.children[at.i].timedOut && r.Status == Cancelled {
		r.Status, r.ExitCode, r.Reason = TimedOut, ExitTimeout, ReasonTimeout
	}
	return s.outcomeEvent(at, r, now)
}

// outcomeEvent is the event that follows a try that ended in r.
func (s *State) outcomeEvent(at place, r *Result, now time.Time) Event {
	n, def := at.f.node(at.i), at.f.def(at.i)
	if n.res != nil && !n.res.Started.IsZero() {
		r.Started = n.res.Started // of the first try
	}
	r.Attempts, r.Fallback = int(n.attempt), n.fallback
	e := Event{Node: at.f.path(at.i), Attempt: int(n.attempt), Reason: r.Reason, Result: r, at: at}
	e.Kind = def.Policy.next(at.view(), r, n.fallback || n.status == Waiting, at.f.stopped != "")
	switch e.Kind {
	case StepWaiting:
		if d := def.Policy.Timeout; d > 0 {
			r.Wait = r.Wait.withLimit(r.Ended.Add(d))
		}
		r.Ended = time.Time{}
	case StepRetrying:
		e.Due = now.Add(def.Policy.Backoff.maxDelay(int(n.attempt)))
	case StepFinished:
		r.Tolerated = def.Policy.Tolerate && (r.Status == Failed || r.Status == TimedOut)
	}
	return e
}

func (s *State) cancellingEvent(f *frame, reason string) Event {
	return Event{Kind: RunCancelling, Node: f.path(-1), Reason: reason, at: f.parent}
}

// nextTimeout cancels a graph whose time is up.
func (s *State) nextTimeout(now time.Time) (e Event, due time.Time, ok bool) {
	if len(s.deadlines) == 0 {
		return e, due, false
	}
	t := s.deadlines[0]
	if t.due.After(now) {
		return e, t.due, false
	}
	return s.cancellingEvent(t.at.f, ReasonTimeout), due, true
}

// nextWaitEnd ends a wait whose time is over, or that a cancel ended.
func (s *State) nextWaitEnd(now time.Time) (e Event, due time.Time, ok bool) {
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
	case wait.expired(now):
		return s.outcomeEvent(t.at, wait.Then.afterWait(now), now), due, true
	}
	return s.cancelledEvent(t.at, now), due, true
}

// answerEvent is the event that ends a wait because of an answer. early says that its
// graph has no arguments yet: ask again. An answer to what does not wait, or waits
// anew, is late: nothing follows it.
func (s *State) answerEvent(a Answer, now time.Time) (e Event, early, late bool) {
	at := s.find(a.Node)
	if at.f == nil || at.f.node(at.i).status != Waiting {
		return e, false, true
	}
	isIt := func(t timer) bool { return t.at == at && t.wait == a.Wait }
	switch {
	case !slices.ContainsFunc(s.waits, isIt) && !slices.ContainsFunc(at.f.pendingTimers, isIt):
		return e, false, true
	case !at.f.bound:
		return e, true, false
	}
	return s.outcomeEvent(at, a.Result.afterWait(now), now), false, false
}

// nextRetry starts a try that is due, if there is a slot for it: else a freed slot wakes
// the loop.
func (s *State) nextRetry(now time.Time, free int) (e Event, due time.Time, ok bool) {
	if len(s.retries) == 0 {
		return e, due, false
	}
	t := s.retries[0]
	switch {
	case t.due.After(now):
		return e, t.due, false
	case t.at.f.stopped != "":
		return s.cancelledEvent(t.at, now), due, true
	}
	e, ok = s.startEvent(t.at, t.due.UnixNano(), now, free)
	return e, due, ok
}

// startEvent decides the start of a node's next try, which could have begun at since;
// false when no slot is free.
func (s *State) startEvent(at place, since int64, now time.Time, free int) (Event, bool) {
	def := at.f.def(at.i)
	e := Event{Kind: StepStarted, Node: at.f.path(at.i), Attempt: int(at.f.node(at.i).attempt) + 1, Time: now, at: at}
	if def.needsSlot() {
		if free <= 0 {
			return e, false
		}
		e.Queued = time.Duration(max(now.UnixNano()-max(since, at.f.started.UnixNano()), 0))
	}
	e.Outlasts = !def.Cleanup && (at.f.stopped != "" || s.outlasts(at))
	return e, true
}

// nextReady decides a node that waits for nothing any more: those that need no slot first,
// then frame by frame and in plan order within each.
func (s *State) nextReady(now time.Time, free int) (e Event, ok bool) {
	if len(s.readyNoSlot) > 0 {
		return s.decideNode(s.readyNoSlot[0], now, free)
	}
	if len(s.readyFrames) > 0 {
		f := s.readyFrames[0]
		return s.decideNode(place{f, f.ready[0]}, now, free)
	}
	return e, false
}

// decideNode decides one ready node: the truth table of docs/states.md. It answers
// false when the node must wait for a slot.
func (s *State) decideNode(at place, now time.Time, free int) (Event, bool) {
	n, def := at.f.node(at.i), at.f.def(at.i)
	sees := UsesResults
	if def.When != nil {
		sees = def.When.Uses
	}
	switch {
	case at.f.stopped != "" && sees != UsesCancel:
		return s.cancelledEvent(at, now), true
	case n.tainted && sees == UsesResults:
		return s.settledEvent(at, now, Result{Status: Skipped, Reason: ReasonUpstreamFailed}), true
	case def.When == nil:
		return s.startEvent(at, n.readyAt, now, free)
	}
	ok, err := def.When.Eval(at.view())
	switch {
	case err != nil:
		r := Result{Status: Failed, ExitCode: 1, Reason: ReasonCondition, Message: err.Error(), Tolerated: def.Policy.Tolerate}
		return s.settledEvent(at, now, r), true
	case !ok:
		return s.settledEvent(at, now, Result{Status: Skipped, Reason: ReasonCondition}), true
	}
	return s.startEvent(at, n.readyAt, now, free)
}

// outlasts says whether a node that starts now would start after a cancel as well.
// Then one that comes while it runs does not stop it.
func (s *State) outlasts(at place) bool {
	when := at.f.def(at.i).When
	if when == nil || when.Uses != UsesCancel {
		return false
	}
	v := at.view()
	v.assumeCancelled = true
	yes, err := when.Eval(v)
	return yes && err == nil
}

func (s *State) settledEvent(at place, now time.Time, r Result) Event {
	r.Ended = now
	return Event{Kind: StepFinished, Node: at.f.path(at.i), Reason: r.Reason, Result: &r, at: at}
}

// cancelledEvent is the end of a node that a cancel kept from starting (again).
func (s *State) cancelledEvent(at place, now time.Time) Event {
	r := Result{Status: Cancelled, Reason: at.f.stopped}
	if prev := at.f.node(at.i).res; prev != nil { // it had tried before
		r.Started, r.Attempts = prev.Started, prev.Attempts
		r.Stdout, r.Stderr, r.ExitCode = prev.Stdout, prev.Stderr, prev.ExitCode
	}
	return s.settledEvent(at, now, r)
}
