package dag

import (
	"context"
	"time"
)

// EventVersion is the version of the event format, flowrun/event.v1. Kinds and fields are
// only added; the meaning of a kind never changes.
const EventVersion = 1

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	RunStarted    Kind = "run.started"
	RunCancelling Kind = "run.cancelling" // Node: "" or the nested graph; Reason: why
	RunFinished   Kind = "run.finished"   // Result: that of the run; Due: when it is retried automatically, as another run
	RunResumed    Kind = "run.resumed"    // another owner continues the run; Reset: the steps to run again
	StepStarted   Kind = "step.started"   // Attempt counts from 1
	StepExpanded  Kind = "step.expanded"  // the items of a loop are known: Items, Keys
	StepRetrying  Kind = "step.retrying"  // Result: that of the failed attempt; Due: when the next one starts
	StepWaiting   Kind = "step.waiting"   // Result: has the Wait that the node now waits for
	StepFallback  Kind = "step.fallback"  // Result: that of the last attempt; the fallback starts
	StepFinished  Kind = "step.finished"  // Result: that of the step, also if it was skipped or cancelled
)

// These kinds are applied and never recorded. The owner that resumes the run makes them
// again.
const (
	runOwned       Kind = "run.owned"   // the run has an owner, with these limits
	stepBound      Kind = "step.bound"  // the arguments of a graph, or the items of a loop, are known
	stepCompleting Kind = "step.ending" // a worker completes the result of a graph or a loop
)

// Event is one thing that happened in a run. An event never carries more than InlineLimit
// bytes of a step's output.
type Event struct {
	V       int       `json:"v"`
	Seq     uint64    `json:"seq"` // counts from 1 within a run
	Run     string    `json:"run,omitempty"`
	Kind    Kind      `json:"kind"`
	Node    ID        `json:"node,omitempty"` // path of the node
	Attempt int       `json:"attempt,omitempty"`
	Time    time.Time `json:"time"`
	Due     time.Time `json:"due,omitzero"`
	Reason  string    `json:"reason,omitempty"` // of the cancel, or that of the Result
	// Queued is how long it took to get here, in nanoseconds: of an attempt, how long it waited for
	// a slot; of run.started, how long ago the run was created; of run.resumed, how long ago its
	// last owner gave the last sign of life.
	Queued time.Duration `json:"queued_ns,omitempty"`
	// Outlasts means that a cancel does not stop this attempt. It is stopped when the time
	// for cleaning up ends.
	Outlasts bool    `json:"outlasts,omitempty"`
	Result   *Result `json:"result,omitempty"`
	Reset    []ID    `json:"reset,omitempty"` // paths of steps whose results no longer count
	// Items is the number of items of a loop. Keys are their names, empty if they are
	// numbered. Digest distinguishes them from other items.
	Items  int      `json:"items,omitempty"`
	Keys   []string `json:"keys,omitempty"`
	Digest string   `json:"digest,omitempty"`
	// Notices are what people should know of the run since the event before this one.
	Notices []Notice `json:"notices,omitempty"`

	// at is the place of the node in the State that made the event. It is not set in an
	// event that was read from a journal; then Node gives the place.
	at place

	args   Args         // of stepBound
	items  Items        // of stepBound
	limits *ownerLimits // of runOwned

	claimed bool // of stepClaimed: it has what it claims
}

// Since returns when what the event ended began: of run.started, when the run was created; of
// run.resumed, when its last owner gave the last sign of life; of step.started, when the attempt
// began to wait for a slot.
func (e *Event) Since() time.Time { return e.Time.Add(-e.Queued) }

// stamp sets what an event of a run says about its times: how long ago since was, if it is the
// first of an owner, and the end of the result if it is the last.
func (e *Event) stamp(since time.Time) {
	switch {
	case e.Kind == RunStarted || e.Kind == RunResumed:
		e.Queued = Span(since, e.Time)
	case e.Kind == RunFinished && e.Result != nil:
		e.Result.Ended = e.Time
	}
}

// Detached returns a copy of the event that may be kept for long: it keeps no other data of
// the run in memory, and only the beginning of streams.
func (e Event) Detached() Event {
	e.at, e.args, e.items, e.limits = place{}, nil, nil, nil
	if e.Result != nil {
		e.Result = e.Result.trimmed(false, false)
	}
	return e
}

// Sink observes a run. The goroutine that owns the run calls Emit, in the order of the
// events. Emit must not block for long and cannot fail the run.
type Sink interface{ Emit(Event) }

// SinkFunc is a function that implements Sink.
type SinkFunc func(Event)

// Emit calls f.
func (f SinkFunc) Emit(e Event) { f(e) }

// Journal keeps events. Append is called once in a turn, before Run acts on the events; if
// it fails, the run stops. Its context keeps the values of the caller's context but is
// never cancelled, because the cancel has to be recorded too. The slice is reused after the
// call. Append may give an event another Result, which then replaces that of the node or the
// run; a step keeps its status. It may also give an event Notices, and the end of a run a Due.
//
// Appended events survive the end of the process. After Sync they survive a crash of the
// machine too. Run calls Sync before it starts a node with DurableStart, and when the run
// has finished.
type Journal interface {
	Append(ctx context.Context, events []Event) error
	Sync(ctx context.Context) error
}
