package dag

import (
	"slices"
	"time"
)

// Next returns the next event at the given time, as a decision: the event has not happened
// yet. The caller applies it and calls Next again, until ok is false; then it records the
// events and acts on them. Next only reads, so two calls return the same event. free is the
// number of leaves that may start. If ok is false, wake is the latest time to call Next
// again; it is zero if only a report can change anything.
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

// sooner returns the earlier of two times; zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// endEvent ends a graph or a loop whose nodes have all settled. If a worker has to complete
// its result, it returns the event that starts this.
func (s *State) endEvent(f *frame, now time.Time) Event {
	if f.walk.completer(f) != nil {
		return Event{Kind: stepCompleting, Node: f.path(-1), at: place{f, -1}}
	}
	r := f.finalResult()
	r.Ended = now
	return s.finishEvent(f, r, now)
}

// finishEvent returns the event for a frame that ended with result r.
func (s *State) finishEvent(f *frame, r *Result, now time.Time) Event {
	if f.parent.f == nil {
		r.Notes = append(s.notes(r.Status), r.Notes...)
		return Event{Kind: RunFinished, Result: r, Reason: r.Reason}
	}
	return s.outcomeEvent(f.parent, r, now)
}

// bindFailedEvent returns the event for a graph or a loop whose arguments could not be
// computed. Nothing in it ever runs.
func (s *State) bindFailedEvent(at place, r *Result, now time.Time) Event {
	if at.f.children[at.i].timedOut && r.Status == Cancelled {
		r.Status, r.ExitCode, r.Reason = TimedOut, ExitTimeout, ReasonTimeout
	}
	return s.outcomeEvent(at, r, now)
}

// outcomeEvent returns the event for an attempt that ended with result r.
func (s *State) outcomeEvent(at place, r *Result, now time.Time) Event {
	n, def := at.f.node(at.i), at.f.def(at.i)
	if n.res != nil && !n.res.Started.IsZero() {
		r.Started = n.res.Started // of the first attempt
	}
	r.Attempts, r.Fallback = int(n.attempt), n.fallback
	e := Event{Node: at.f.path(at.i), Attempt: int(n.attempt), Result: r, at: at}
	e.Kind, e.Reason, e.Due = s.following(at, r, now)
	switch e.Kind {
	case StepWaiting:
		if d := def.Policy.Timeout; d > 0 && r.Reason != ReasonInterrupted {
			r.Wait = r.Wait.withLimit(r.Ended.Add(d))
		}
		r.Ended = time.Time{}
	case StepFinished:
		r.Tolerated = def.Policy.Tolerate && (r.Status == Failed || r.Status == TimedOut)
	}
	return e
}

// following returns the kind of the event that follows an attempt which ended in r: another
// attempt or round, the fallback, a wait, or the end of the node. due is when the next
// attempt starts.
func (s *State) following(at place, r *Result, now time.Time) (kind Kind, reason string, due time.Time) {
	n, p := at.f.node(at.i), &at.f.def(at.i).Policy
	switch {
	case r.Status == Waiting:
		return StepWaiting, r.Reason, due
	case n.fallback, n.status == Waiting:
		return StepFinished, r.Reason, due
	case at.f.stopped != "":
		if p.Repeat != nil {
			s.endStopped(at, r)
		}
		return StepFinished, r.Reason, due
	case r.failed() && s.mayRetry(at, r, now):
		reason = r.Reason
		if reason == ReasonRepeat { // of a poll inside, which gave up: this is a retry, not another round of the node
			reason = ReasonExit
		}
		return StepRetrying, reason, now.Add(max(p.Backoff.maxDelay(r.Attempts-at.roundsBefore()), p.Backoff.atLeast(r)))
	}
	if p.Repeat != nil {
		if due, again := s.afterRound(at, r, now); again {
			return StepRetrying, ReasonRepeat, due
		}
	}
	if r.failed() && p.Fallback != nil {
		return StepFallback, r.Reason, due
	}
	return StepFinished, r.Reason, due
}

func (s *State) cancellingEvent(f *frame, reason string) Event {
	return Event{Kind: RunCancelling, Node: f.path(-1), Reason: reason, at: f.parent}
}

// nextTimeout cancels a graph whose time limit has passed.
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

// nextWaitEnd ends a wait whose time has come, or that a cancel ended.
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

// answerEvent returns the event that ends a wait because of an answer. early means that the
// graph has no arguments yet and the caller must try the answer again later. late means
// that the node does not wait, or waits for something newer; the answer is dropped.
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
	if a.Restart {
		n := at.f.node(at.i)
		return Event{Kind: StepStarted, Node: at.f.path(at.i), Attempt: int(n.attempt), Outlasts: n.outlasts, at: at}, false, false
	}
	return s.outcomeEvent(at, a.Result.afterWait(now), now), false, false
}

// nextRetry starts an attempt that is due, if there is a slot for it. If there is none, the
// loop is woken when a slot is free.
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

// startEvent returns the start of a node's next attempt, which could have started at since.
// It returns false if the node needs a slot and none is free.
func (s *State) startEvent(at place, since int64, now time.Time, free int) (Event, bool) {
	def := at.f.def(at.i)
	if s.claims(at) {
		return Event{Kind: stepClaiming, Node: at.f.path(at.i), Attempt: int(at.f.node(at.i).attempt) + 1, at: at}, true
	}
	e := Event{Kind: StepStarted, Node: at.f.path(at.i), Attempt: int(at.f.node(at.i).attempt) + 1, Time: now, at: at}
	if def.needsSlot() {
		if free <= 0 {
			return e, false
		}
		e.Queued = time.Duration(max(now.UnixNano()-max(since, at.f.started.UnixNano(), s.owned.UnixNano()), 0))
	}
	e.Outlasts = !def.Cleanup && (at.f.stopped != "" || s.outlasts(at))
	return e, true
}

// nextReady decides about a ready node. Nodes that need no slot come first, the others
// frame by frame and in plan order within a frame.
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

// decideNode decides about one ready node, by the truth table of docs/explanation/states.md. It returns
// false if the node has to wait for a slot.
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
	ok, err := s.evaluate(at.view())
	switch {
	case err != nil:
		r := Result{Status: Failed, ExitCode: 1, Reason: ReasonCondition, Message: err.Error(), Tolerated: def.Policy.Tolerate}
		return s.settledEvent(at, now, r), true
	case !ok:
		return s.settledEvent(at, now, Result{Status: Skipped, Reason: ReasonCondition}), true
	}
	return s.startEvent(at, n.readyAt, now, free)
}

// outlasts reports whether a node that starts now would also start after a cancel. If so, a
// cancel that comes while it runs does not stop it.
func (s *State) outlasts(at place) bool {
	when := at.f.def(at.i).When
	if when == nil || when.Uses != UsesCancel {
		return false
	}
	v := at.view()
	v.assumeCancelled = true
	yes, err := s.evaluate(v)
	return yes && err == nil
}

func (s *State) settledEvent(at place, now time.Time, r Result) Event {
	r.Ended = now
	return Event{Kind: StepFinished, Node: at.f.path(at.i), Reason: r.Reason, Result: &r, at: at}
}

// cancelledEvent ends a node that did not start, or not again, because of a cancel.
func (s *State) cancelledEvent(at place, now time.Time) Event {
	r := Result{Status: Cancelled, Reason: at.f.stopped}
	if prev := at.f.node(at.i).res; prev != nil { // it had an attempt before
		r.Started, r.Attempts = prev.Started, prev.Attempts
		r.Stdout, r.Stderr, r.ExitCode = prev.Stdout, prev.Stderr, prev.ExitCode
	}
	return s.settledEvent(at, now, r)
}
