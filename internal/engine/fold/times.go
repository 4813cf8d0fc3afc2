package fold

import (
	"time"

	"github.com/flowrun/flowrun/dag"
)

// Durations is how long a run or a step took, or has taken so far.
type Durations struct {
	// Took is the wall clock's time from the start to the end. The other two are parts of it.
	Took time.Duration
	// Waited is the time in which it waited for a person or a time and did nothing else, with
	// or without an owner.
	Waited time.Duration
	// Idle is the time in which it did not wait and the run had no owner: from the last sign of
	// life of one owner until the next one resumed the run.
	Idle time.Duration
}

// Durations returns the durations of the run until it ended, or until now if it has not.
func (r *Run[T]) Durations(now time.Time) Durations {
	return r.Root.times.until(r.Began, r.Ended, now)
}

// Durations returns the durations of the step until it ended, or until now if it has not. They
// are zero for a step that has not started.
func (s *Step[T]) Durations(now time.Time) Durations { return s.times.until(s.Began, s.Ended, now) }

// times counts the time in which a step waited, and in which nobody owned its run.
type times struct {
	doing         doing
	busy, waiting int       // number of steps in it, itself included, that run or wait
	since         time.Time // when it began to wait, if it waits
	waited, idle  time.Duration
}

// doing is what a step does by itself.
type doing uint8

const (
	nothing doing = iota // also of a step that holds others
	runs                 // or is between two attempts
	waits
)

// waits reports whether it waits and does nothing else.
func (t *times) waits() bool { return t.waiting > 0 && t.busy == 0 }

func (t *times) until(began, ended, now time.Time) (d Durations) {
	if ended.IsZero() {
		ended = now
	}
	d.Took, d.Waited = dag.Span(began, ended), t.waited
	if t.waits() {
		d.Waited += dag.Span(t.since, ended)
	}
	d.Waited = min(d.Waited, d.Took)
	d.Idle = min(t.idle, d.Took-d.Waited)
	return d
}

// count changes the numbers of steps that run or wait.
func (t *times) count(x doing, by int, now time.Time) {
	waited := t.waits()
	switch x {
	case runs:
		t.busy += by
	case waits:
		t.waiting += by
	}
	switch {
	case waited == t.waits():
	case waited:
		t.waited += dag.Span(t.since, now)
	default:
		t.since = now
	}
}

// does sets what a step does from now on.
func (r *Run[T]) does(s *Step[T], what doing) {
	was := s.times.doing
	if was == what {
		return
	}
	s.times.doing = what
	for ; s != nil; s = s.Parent {
		s.times.count(was, -1, r.now)
		s.times.count(what, 1, r.now)
	}
}

// endOf returns when the run or step of a finishing event ended.
func endOf(e *dag.Event) time.Time {
	if e.Result.Ended.IsZero() || e.Result.Status == dag.Reused {
		return e.Time
	}
	return e.Result.Ended
}

// ownerless counts the time without an owner that ends with a run.resumed, and returns it.
func (r *Run[T]) ownerless(e *dag.Event) time.Duration {
	if r.Last.IsZero() { // the owner before has recorded nothing
		return 0
	}
	from := r.Last
	if e.Queued > 0 && e.Since().After(from) {
		from = e.Since()
	}
	gap := dag.Span(from, e.Time)
	if !r.Root.times.waits() {
		r.Root.times.idle += gap
	}
	for _, s := range r.steps {
		if s.Status != dag.Pending && !s.Status.Settled() && !s.times.waits() {
			s.times.idle += gap
		}
	}
	return gap
}
