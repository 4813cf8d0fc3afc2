package dag

import (
	"encoding/json"
	"time"
)

// Wait is what a Runner that answers Waiting leaves to the outside: the node then
// waits without a worker and without a slot, through restarts too, until its time is
// over or somebody answers. Neither another try nor a fallback follows the end of a
// wait: a person's no stands, and so does a time that is over.
type Wait struct {
	// Kind is what it waits for, in a word of the Runner's.
	Kind string `json:"kind"`
	// Until is when Then becomes the node's result; zero is never. The node's own
	// time limit, where it is sooner, takes its place.
	Until time.Time `json:"until,omitzero"`
	// Then is what comes of the node when its time is over. nil: it succeeds.
	Then *Result `json:"then,omitempty"`
	// Asks says that an Answer may end the wait. One that neither asks nor has a time
	// would never end: such a try has failed.
	Asks bool `json:"asks,omitempty"`
	// Prompt and Form are what is asked, for those who answer. The kernel reads
	// neither.
	Prompt string          `json:"prompt,omitempty"`
	Form   json.RawMessage `json:"form,omitempty"`
}

// Answer ends a wait from outside.
type Answer struct {
	Node ID     // its path
	Wait uint64 // the number of the step.waiting event that is answered
	// Result is the node's. nil: whoever was asked leaves it to others.
	Result *Result
}

// forever is when waits end that have no time.
var forever = time.Unix(1<<40, 0)

// canEnd says whether the wait can come to an end.
func (w *Wait) canEnd() bool { return w.Asks || !w.Until.IsZero() }

// expired says whether its time is over.
func (w *Wait) expired(now time.Time) bool { return !w.Until.IsZero() && !now.Before(w.Until) }

// due is when to look at a wait next.
func (w *Wait) due() time.Time {
	if w.Until.IsZero() {
		return forever
	}
	return w.Until
}

// withLimit is the wait with the time limit of its try.
func (w *Wait) withLimit(limit time.Time) *Wait {
	if !w.Until.IsZero() && !w.Until.After(limit) {
		return w
	}
	sooner := *w
	sooner.Until, sooner.Then = limit, &Result{Status: TimedOut, ExitCode: ExitTimeout, Reason: ReasonTimeout}
	return &sooner
}

// Waits calls visit for every node that waits, in plan order, with the number of its
// step.waiting event and the Result that came with it.
func (s *State) Waits(visit func(path ID, wait uint64, r *Result)) {
	waits := make(map[ID]uint64, len(s.waits))
	note := func(timers []timer) {
		for _, t := range timers {
			if t.wait != 0 && t.current(Waiting) {
				waits[t.at.f.path(t.at.i)] = t.wait
			}
		}
	}
	note(s.waits)
	s.root.visitFrames(func(f *frame) { note(f.pendingTimers) })
	s.All(func(path ID, _ *Node, status Status, r *Result) {
		if status == Waiting {
			visit(path, waits[path], r)
		}
	})
}
