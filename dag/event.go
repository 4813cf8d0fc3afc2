package dag

import (
	"context"
	"time"
)

// EventVersion is the version of the event form, flowrun/event.v1. Kinds and
// fields are only ever added; a kind is never given another meaning.
const EventVersion = 1

// Kind says what happened.
type Kind string

// The kinds of events.
const (
	RunStarted    Kind = "run.started"
	RunCancelling Kind = "run.cancelling" // Node: "" or the nested graph; Reason says why
	RunFinished   Kind = "run.finished"   // Result: the run's
	RunResumed    Kind = "run.resumed"    // another owner goes on; Reset: what runs again
	StepStarted   Kind = "step.started"   // Attempt counts from 1
	StepExpanded  Kind = "step.expanded"  // a loop knows what it goes over: Items, Keys
	StepRetrying  Kind = "step.retrying"  // Result: the failed try's; Due: when the next begins
	StepWaiting   Kind = "step.waiting"   // Result: holds the Wait; from then on it is up to the outside
	StepFallback  Kind = "step.fallback"  // Result: the last try's; the fallback begins
	StepFinished  Kind = "step.finished"  // Result: the step's, skipped and cancelled included
)

// Kinds that are folded in and never recorded: whoever resumes the run works out anew what they bring.
const (
	runOwned       Kind = "run.owned"   // somebody runs it, and allows so much
	stepBound      Kind = "step.bound"  // the arguments of a graph, or the items of a loop, are there
	stepCompleting Kind = "step.ending" // a worker completes the result of a graph or a loop
)

// Event is one thing that happened in a run. Events never carry more than
// InlineLimit bytes of a step's output.
type Event struct {
	V       int       `json:"v"`
	Seq     uint64    `json:"seq"` // counts from 1 within a run
	Run     string    `json:"run,omitempty"`
	Kind    Kind      `json:"kind"`
	Node    ID        `json:"node,omitempty"` // the path of the node
	Attempt int       `json:"attempt,omitempty"`
	Time    time.Time `json:"time"`
	Due     time.Time `json:"due,omitzero"`
	Reason  string    `json:"reason,omitempty"` // of the cancel, or the Result's
	// Queued is how long a try that starts waited for a slot, in nanoseconds.
	Queued time.Duration `json:"queued_ns,omitempty"`
	// Outlasts says that a cancel does not stop the try that starts: only the end of the
	// time for cleaning up does.
	Outlasts bool    `json:"outlasts,omitempty"`
	Result   *Result `json:"result,omitempty"`
	Reset    []ID    `json:"reset,omitempty"` // paths of steps whose results count no more
	// Items is how many items a loop goes over, Keys what they are called where that
	// is not their numbers, Digest what tells them from others.
	Items  int      `json:"items,omitempty"`
	Keys   []string `json:"keys,omitempty"`
	Digest string   `json:"digest,omitempty"`

	// at is the node's place in the State that made the event; an event read
	// back from a journal finds its place by Node.
	at place

	args   Args         // of stepBound
	items  Items        // of stepBound
	limits *ownerLimits // of runOwned
}

// Detached is the event as it may be kept for long: it holds on to nothing of the run,
// and of streams to no more than their beginning.
func (e Event) Detached() Event {
	e.at, e.args, e.items, e.limits = place{}, nil, nil, nil
	if e.Result != nil {
		e.Result = e.Result.trimmed(false)
	}
	return e
}

// Sink watches a run. Emit is called from the goroutine that owns the run, in
// order; it must not block for long and cannot fail a run.
type Sink interface{ Emit(Event) }

// SinkFunc is a function as a Sink.
type SinkFunc func(Event)

// Emit calls f.
func (f SinkFunc) Emit(e Event) { f(e) }

// Journal keeps events. Append is called once a turn of the loop, before
// anything in the events is acted upon; when it fails the run stops. Its context
// is the caller's without the cancel, which has to be recorded too. The slice is
// reused after the call.
//
// Append survives the end of the process. Sync returns when everything appended
// before survives the end of the machine as well: the loop asks for that before it
// starts a node that is Sure, and when the run has finished.
type Journal interface {
	Append(ctx context.Context, events []Event) error
	Sync(ctx context.Context) error
}
