package telemetry

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// run makes the spans of one run.
type run struct {
	id     string
	about  About
	parent Context // zero: none
	out    *sender // nil: nothing is sent

	mu      sync.Mutex // steps ask for their contexts
	trace   Context    // the first root's
	root    *span
	ended   bool
	open    map[dag.ID]*span // steps that have begun and not ended
	resumed uint64           // the number of the last run.resumed, 0 for none
	last    time.Time        // of the last event
}

// span is a step that has begun, or the run.
type span struct {
	path    dag.ID
	parent  [8]byte
	start   time.Time
	resumed uint64 // as spanID has it
	tries   int    // that have ended, and have a span of their own
	try     try    // under way; the zero try while it waits for the next one
	items   int    // of a loop
	notes   []note
}

// try is a try of a step, or its fallback.
type try struct {
	id      [8]byte
	attempt int
	word    string // as spanID has it
	start   time.Time
	queued  time.Duration
}

// note is something that happened in between.
type note struct {
	at           time.Time
	what, reason string
}

func newRun(out *sender, id string, a About) *run {
	r := &run{id: id, about: a, out: out, open: map[dag.ID]*span{}, trace: Root(id, a.Parent, a.State)}
	r.parent, _ = Parse(a.Parent, a.State)
	if !r.trace.Sampled {
		r.out = nil
	}
	for i := 0; i < len(a.Past) && r.out != nil; i++ {
		r.fold(&a.Past[i], false)
	}
	return r
}

func (r *run) emit(e *dag.Event) {
	if r.out != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fold(e, true)
	}
}

// at is the context for what a step starts.
func (r *run) at(step dag.ID) Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out == nil || r.root == nil {
		return r.parent
	}
	c := r.trace
	c.Span = r.root.try.id
	if s := r.open[step]; s != nil && s.try != (try{}) {
		c.Span = s.try.id
	}
	return c
}

// fold takes an event in. Without tell it is one that was told before, or could have
// been: it changes what is known, and nothing is sent.
func (r *run) fold(e *dag.Event, tell bool) {
	switch e.Kind {
	case dag.RunStarted:
		r.begin(e)
	case dag.RunResumed:
		r.resume(e, tell)
	case dag.RunCancelling:
		if s := r.find(e.Node); s != nil {
			s.notes = append(s.notes, note{e.Time, "cancelling", e.Reason})
		}
	case dag.RunFinished:
		r.finish(e, tell)
	case dag.StepStarted:
		r.start(e)
	case dag.StepExpanded:
		if s := r.open[e.Node]; s != nil {
			s.items = max(e.Items, len(e.Keys))
		}
	case dag.StepWaiting:
		if s := r.open[e.Node]; s != nil {
			s.notes = append(s.notes, note{at: e.Time, what: "waiting"})
		}
	case dag.StepRetrying:
		r.endTry(e, tell)
	case dag.StepFallback:
		r.endTry(e, tell)
		if s := r.open[e.Node]; s != nil {
			s.try = try{id: spanID(r.id, s.path, fallback, s.resumed), attempt: e.Attempt, word: fallback, start: e.Time}
		}
	case dag.StepFinished:
		r.end(e, tell)
	}
	r.last = e.Time
}

func (r *run) begin(e *dag.Event) {
	r.root = &span{parent: r.parent.Span, start: e.Time, try: try{id: r.trace.Span, attempt: 1, word: "1", start: e.Time}}
}

// find is the run's span for "", else a step's that has begun.
func (r *run) find(path dag.ID) *span {
	if path == "" {
		return r.root
	}
	return r.open[path]
}

// start begins a try, the first of a step with the step.
func (r *run) start(e *dag.Event) {
	s := r.open[e.Node]
	if s == nil {
		s = r.enter(e.Node, e.Time)
	}
	s.try = r.newTry(s, e.Attempt, e.Time)
	s.try.queued = e.Queued
}

// enter begins a step.
func (r *run) enter(path dag.ID, now time.Time) *span {
	s := &span{path: path, parent: r.holder(path), start: now, resumed: r.resumed}
	r.open[path] = s
	return s
}

func (r *run) newTry(s *span, attempt int, now time.Time) try {
	word := strconv.Itoa(max(attempt, 1))
	return try{id: spanID(r.id, s.path, word, s.resumed), attempt: max(attempt, 1), word: word, start: now}
}

// holder is the span around a step: the try under way of what holds it, or the run.
func (r *run) holder(path dag.ID) [8]byte {
	around := path.Holders()
	if len(around) > 0 {
		if s := r.open[around[len(around)-1]]; s != nil {
			return s.try.id
		}
	}
	if r.root == nil {
		return [8]byte{}
	}
	return r.root.try.id
}

// endTry ends a try that is not the step's last.
func (r *run) endTry(e *dag.Event, tell bool) {
	s := r.open[e.Node]
	if s == nil || s.try == (try{}) {
		return
	}
	if tell {
		r.send(r.tried(s, e.Time, outcomeOf(e.Result)))
	}
	s.tries++
	s.try = try{}
}

// end ends a step.
func (r *run) end(e *dag.Event, tell bool) {
	s := r.open[e.Node]
	if s == nil { // it never started: it was skipped, cancelled or taken over
		s = &span{path: e.Node, parent: r.holder(e.Node), start: e.Time, resumed: r.resumed}
		s.try = try{id: spanID(r.id, s.path, "1", s.resumed), start: e.Time}
	}
	delete(r.open, e.Node)
	if tell {
		r.close(s, e.Time, outcomeOf(e.Result))
	}
}

// close tells of a step that has ended, and of its last try where it has more than one.
func (r *run) close(s *span, now time.Time, o outcome) {
	if s.tries > 0 && s.try != (try{}) {
		r.send(r.tried(s, now, o))
	}
	r.send(r.stepped(s, now, o))
}

// finish ends the run.
func (r *run) finish(e *dag.Event, tell bool) {
	if r.root == nil || r.ended {
		return
	}
	r.ended = true
	if tell {
		r.send(r.ran(e.Time, outcomeOf(e.Result)))
	}
}

// resume goes on with a run. What ran when its process died has ended, nobody knows
// how; it is told all the same, since what it started may have spans below it. A run
// that had ended has a span that cannot be changed any more: what follows is a span
// below that.
func (r *run) resume(e *dag.Event, tell bool) {
	if r.root == nil {
		r.begin(e)
	}
	reset := make(map[dag.ID]bool, len(e.Reset))
	for _, path := range e.Reset {
		reset[path] = true
	}
	for path, s := range r.open {
		if !reset[path] && !slices.ContainsFunc(path.Holders(), func(h dag.ID) bool { return reset[h] }) {
			continue
		}
		delete(r.open, path)
		if tell {
			r.close(s, r.last, outcome{status: dag.Interrupted, reason: dag.ReasonInterrupted})
		}
	}
	r.resumed = e.Seq
	if r.ended {
		r.ended = false
		r.root = &span{parent: r.root.try.id, start: e.Time, try: try{id: spanID(r.id, "", "1", e.Seq), attempt: 1, start: e.Time}}
	} else {
		r.root.notes = append(r.root.notes, note{at: e.Time, what: "resumed"})
	}
	for _, path := range e.Reset {
		for _, h := range path.Holders() {
			if r.open[h] == nil { // it had ended, and has not any more
				s := r.enter(h, e.Time)
				s.try = r.newTry(s, 1, e.Time)
			}
		}
	}
}
