package dag

import (
	"encoding/json"
	"time"
)

// Wait describes what a node waits for after its Runner returned Waiting. The node then
// uses no worker and no slot, and keeps waiting if the program restarts, until its time
// comes or somebody answers. The end of a wait is final: neither another attempt nor a
// fallback follows, also after a rejection or a timeout.
type Wait struct {
	// Kind is what the node waits for, in a word of the Runner.
	Kind string `json:"kind"`
	// Until is when Then becomes the result of the node; zero means never. The node's own
	// time limit replaces it if that comes earlier.
	Until time.Time `json:"until,omitzero"`
	// Then is the result of the node when Until has come; nil means success.
	Then *Result `json:"then,omitempty"`
	// Asks means that an Answer may end the wait. An attempt that neither asks nor has a
	// time would wait forever; it fails instead.
	Asks bool `json:"asks,omitempty"`
	// Hold means that the run keeps its locks while it waits for this. Package dag does not
	// read it.
	Hold bool `json:"hold,omitempty"`
	// Prompt and Form are what people are asked. Package dag does not read them.
	Prompt string          `json:"prompt,omitempty"`
	Form   json.RawMessage `json:"form,omitempty"`
}

// Answer ends a wait.
type Answer struct {
	Node ID     // path of the node
	Wait uint64 // number of the step.waiting event that is answered
	// Result becomes the result of the node. nil means that the person who was asked leaves
	// the answer to others.
	Result *Result
	// Restart starts the attempt again that was interrupted and now waits for a decision. Only
	// a driver of a Machine makes such waits.
	Restart bool
}

// forever is the end of waits without a time.
var forever = time.Unix(1<<40, 0)

// canEnd reports whether the wait can end.
func (w *Wait) canEnd() bool { return w.Asks || !w.Until.IsZero() }

// expired reports whether the time of the wait has come.
func (w *Wait) expired(now time.Time) bool { return !w.Until.IsZero() && !now.Before(w.Until) }

// due returns when to check the wait next.
func (w *Wait) due() time.Time {
	if w.Until.IsZero() {
		return forever
	}
	return w.Until
}

// withLimit returns the wait with the time limit of its attempt.
func (w *Wait) withLimit(limit time.Time) *Wait {
	if !w.Until.IsZero() && !w.Until.After(limit) {
		return w
	}
	sooner := *w
	sooner.Until, sooner.Then = limit, &Result{Status: TimedOut, ExitCode: ExitTimeout, Reason: ReasonTimeout}
	return &sooner
}

// Waits calls visit for every waiting node in plan order, with the number of its
// step.waiting event and the Result of that event.
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
