package telemetry

import (
	"strconv"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/fold"
)

// run makes the spans of one run.
type run struct {
	id     string
	tool   string
	links  []Context
	parent Context // zero: none
	out    *sender // nil: nothing is sent

	mu    sync.Mutex // steps request their contexts concurrently
	trace Context    // the root span of the run
	steps *fold.Run[span]
}

// span is the data kept for a step, or for the run in its Root. It is zero before the step
// has started, and after its span has been sent.
type span struct {
	parent   [8]byte
	start    time.Time
	resumed  uint64  // see spanID
	attempts int     // finished attempts that have their own span
	attempt  attempt // the running attempt; zero between attempts
	notes    []note
}

// step is a step with its span as Data.
type step = fold.Step[span]

// attempt is an attempt of a step, or its fallback.
type attempt struct {
	id     [8]byte
	number int
	label  string // see spanID
	start  time.Time
	queued time.Duration
}

// note is an event inside a span.
type note struct {
	at           time.Time
	what, reason string
}

// newRun returns the state of a run. A run whose trace is not sampled is not sent.
func newRun(out *sender, o history.ObservedRun) *run {
	r := &run{id: o.ID, tool: o.Tool, out: out, steps: fold.New[span](fold.Plan{}), trace: rootOf(o.ID, o.Trace), links: linksOf(o)}
	r.parent, _ = Parse(o.Trace.Parent, o.Trace.State)
	if !r.trace.Sampled {
		r.out = nil
	}
	for i := 0; i < len(o.Recorded) && r.out != nil; i++ {
		r.fold(&o.Recorded[i], false)
	}
	return r
}

// linksOf returns the spans that are related to a run: that of the run which it retries, and
// that of the program which resumes it, if that is part of another trace.
func linksOf(o history.ObservedRun) (links []Context) {
	if o.RetryOf != "" {
		links = append(links, rootOf(o.RetryOf, o.RetryTrace))
	}
	if c, ok := Parse(o.Caller.Parent, o.Caller.State); ok && o.Caller != o.Trace {
		links = append(links, c)
	}
	return links
}

func (r *run) emit(e *dag.Event) {
	if r.out != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fold(e, true)
	}
}

// at returns the context for what a step starts.
func (r *run) at(path dag.ID) Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	root := &r.steps.Root.Data
	if r.out == nil || root.start.IsZero() {
		return r.parent
	}
	c := r.trace
	c.Span = root.attempt.id
	if s := r.steps.Find(path); s != nil && s.Data.attempt != (attempt{}) {
		c.Span = s.Data.attempt.id
	}
	return c
}

// fold applies an event. If tell is false, the event belongs to the past: it changes the
// state, but nothing is sent.
func (r *run) fold(e *dag.Event, tell bool) {
	if e.Kind == dag.RunResumed {
		r.resume(e, tell)
		return
	}
	ended := !r.steps.Ended.IsZero()
	s := r.steps.Apply(e)
	switch {
	case e.Kind == dag.RunStarted:
		r.begin(e)
	case e.Kind == dag.RunFinished:
		if tell && !ended && !r.steps.Root.Data.start.IsZero() {
			r.send(r.runSpan(e.Time, outcomeOf(e.Result)))
		}
	case e.Kind == dag.RunCancelling && e.Node == "":
		r.steps.Root.Data.note(e, "cancelling")
	case s != nil:
		r.step(s, e, tell)
	}
}

func (r *run) step(s *step, e *dag.Event, tell bool) {
	switch e.Kind {
	case dag.RunCancelling:
		s.Data.note(e, "cancelling")
	case dag.StepStarted: // of a step's attempts, the first one starts the step
		if s.Data.start.IsZero() {
			r.startStep(s, e.Time)
		}
		s.Data.attempt = r.newAttempt(s, e.Attempt, e.Time)
		s.Data.attempt.queued = e.Queued
	case dag.StepWaiting:
		s.Data.note(e, "waiting")
	case dag.StepRetrying:
		r.endAttempt(s, e, tell)
	case dag.StepFallback:
		r.endAttempt(s, e, tell)
		s.Data.attempt = attempt{id: spanID(r.id, s.Path, fallback, s.Data.resumed), number: e.Attempt, label: fallback, start: e.Time}
	case dag.StepFinished:
		if s.Data.start.IsZero() { // it never started: it was skipped, cancelled or reused
			r.startStep(s, e.Time)
			s.Data.attempt = attempt{id: spanID(r.id, s.Path, "1", s.Data.resumed), start: e.Time}
		}
		r.end(s, e.Time, outcomeOf(e.Result), tell)
	}
}

func (r *run) begin(e *dag.Event) {
	r.steps.Root.Data = span{parent: r.parent.Span, start: e.Time, attempt: attempt{id: r.trace.Span, number: 1, label: "1", start: e.Time}}
}

func (s *span) note(e *dag.Event, what string) {
	if !s.start.IsZero() {
		s.notes = append(s.notes, note{e.Time, what, e.Reason})
	}
}

// startStep starts the span of a step, below the running attempt of its parent.
func (r *run) startStep(s *step, now time.Time) {
	s.Data = span{parent: s.Parent.Data.attempt.id, start: now, resumed: r.steps.Resumed}
}

func (r *run) newAttempt(s *step, n int, now time.Time) attempt {
	word := strconv.Itoa(max(n, 1))
	return attempt{id: spanID(r.id, s.Path, word, s.Data.resumed), number: max(n, 1), label: word, start: now}
}

// endAttempt ends an attempt that is not the step's last.
func (r *run) endAttempt(s *step, e *dag.Event, tell bool) {
	if s.Data.attempt == (attempt{}) {
		return
	}
	if tell {
		r.send(r.attemptSpan(s, e.Time, outcomeOf(e.Result)))
	}
	s.Data.attempts++
	s.Data.attempt = attempt{}
}

// end ends a step, and its last attempt if there are several.
func (r *run) end(s *step, now time.Time, o outcome, tell bool) {
	if tell && s.Data.attempts > 0 && s.Data.attempt != (attempt{}) {
		r.send(r.attemptSpan(s, now, o))
	}
	if tell {
		r.send(r.stepSpan(s, now, o))
	}
	s.Data = span{}
}

// resume continues a run. Steps that were running when the process ended have ended with an
// unknown result. Their spans are sent nevertheless, because spans of what they started may
// be below them. If the run had ended, its span was sent and cannot change; what follows is
// in a new span below that one.
func (r *run) resume(e *dag.Event, tell bool) {
	root := &r.steps.Root.Data
	if root.start.IsZero() {
		r.begin(e)
	}
	for _, path := range e.Reset {
		if s := r.steps.Find(path); s != nil {
			r.interrupt(s, tell)
		}
	}
	ended := !r.steps.Ended.IsZero()
	r.steps.Apply(e)
	if ended {
		*root = span{parent: root.attempt.id, start: e.Time, attempt: attempt{id: spanID(r.id, "", "1", e.Seq), number: 1, start: e.Time}}
	} else {
		root.note(&dag.Event{Time: e.Time}, "resumed")
	}
	for _, path := range e.Reset {
		for _, outer := range path.Ancestors() {
			if s := r.steps.Find(outer); s != nil && s.Data.start.IsZero() { // it had ended, and runs again
				r.startStep(s, e.Time)
				s.Data.attempt = r.newAttempt(s, 1, e.Time)
			}
		}
	}
}

// interrupt ends a step that runs again, and the active steps inside it.
func (r *run) interrupt(s *step, tell bool) {
	if s.Inside != nil {
		for inner := s.Inside.Active.First; inner != nil; inner = inner.Next {
			r.interrupt(inner, tell)
		}
	}
	if !s.Data.start.IsZero() {
		r.end(s, r.steps.Last, outcome{status: dag.Interrupted, reason: dag.ReasonInterrupted}, tell)
	}
}
