package history

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/store/merge"
)

// StateStore keeps the values that tools keep between their runs. A run reads them with
// Ledger.ReadState and changes them with the end of the run or of a step (Ledger.Append).
type StateStore interface {
	// State returns the current values of a tool, sorted by key; for the zero StateID those of
	// all tools.
	State(ctx context.Context, id StateID) ([]StateValue, error)
	// SetState changes values outside of a run, for the person of WithActor. The rules of
	// dag.StateChange.Merge apply; a change without Merge replaces the value. Error: a
	// *StateError, and nothing is changed.
	SetState(ctx context.Context, changes []dag.StateChange) error
	// StateHistory returns the last values of a key, newest first, at most MaxStateHistory; for
	// the key "" those of all keys.
	StateHistory(ctx context.Context, id StateID, key string) ([]StateValue, error)
}

// StateID identifies the tool that keeps values: its name and the file of its definition.
type StateID struct {
	Tool string `json:"tool"`
	File string `json:"file,omitempty"` // "" for a tool that has no file
}

// StateValue is one value that a tool keeps.
type StateValue struct {
	StateID
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	// Version grows with each change of any value in the Store. It is 0 for a value that was
	// never set.
	Version int64     `json:"version"`
	Run     string    `json:"run,omitempty"` // the run that set it; "" for a person
	By      string    `json:"by,omitempty"`  // the person who set it
	At      time.Time `json:"at,omitzero"`
}

// Limits of the values that a tool keeps.
const (
	MaxStateValue   = 64 << 10 // bytes of a value as JSON
	MaxState        = 1 << 20  // bytes of all values and keys of a tool
	MaxStateHistory = 50       // values of a key, the current one included
)

// StateError means that a Store does not keep a value.
type StateError struct {
	StateID
	Key      string
	Conflict bool   // another run, or a person, has changed the value in the meantime
	Message  string // why, without the names of the tool and the key
}

func (e *StateError) Error() string {
	return fmt.Sprintf("cannot keep %s of tool %s: %s", e.Key, e.Tool, e.Message)
}

// StateChanges returns the changes that a Store keeps together with these events: those of a run
// that has succeeded, and of steps that have succeeded and keep theirs at once.
func StateChanges(events []dag.Event) (list []dag.StateChange) {
	for i := range events {
		e := &events[i]
		if e.Result == nil || len(e.Result.State()) == 0 || !succeeded(e.Result.Status) {
			continue
		}
		if e.Kind != dag.RunFinished && e.Kind != dag.StepFinished {
			continue
		}
		for _, c := range e.Result.State() {
			if c.Step == (e.Kind == dag.StepFinished) {
				list = append(list, c)
			}
		}
	}
	return list
}

// KeepsArtifact reports whether an event is the end of a step that has kept an artifact: RunInfo.Artifacts.
func KeepsArtifact(e *dag.Event) bool {
	return e.Kind == dag.StepFinished && e.Result != nil && len(e.Result.Artifacts()) > 0
}

func succeeded(s dag.Status) bool { return s == dag.Succeeded || s == dag.Reused }

// NextState returns the values that changes make: those that differ from the current ones. seen
// are the values that the run has read, followed by those that it has set itself. A Store calls
// NextState in the transaction in which it writes the values. It fills in Version, Run, By and At.
// Error: a *StateError.
//
// A change without Merge is refused if the value has another Version than the run has seen, unless
// the run leaves the value as it has seen it.
func NextState(changes []dag.StateChange, current, seen []StateValue) ([]StateValue, error) {
	var next []StateValue
	for _, c := range changes {
		id := StateID{c.Tool, c.File}
		old, last := findState(current, id, c.Key), findState(seen, id, c.Key)
		if c.Merge == "" && old.Version != last.Version {
			if bytes.Equal(last.Value, c.Value) {
				continue
			}
			return nil, &StateError{id, c.Key, true, old.setBy() + " has changed it in the meantime"}
		}
		v, err := merge.Values(c.Merge, old.Value, c.Value)
		if err != nil {
			return nil, &StateError{id, c.Key, false, err.Error()}
		}
		if bytes.Equal(v, old.Value) {
			continue
		}
		value := StateValue{StateID: id, Key: c.Key, Value: v, Version: old.Version}
		current, next = replaceState(current, value), replaceState(next, value)
	}
	if err := checkStateSize(current, next); err != nil {
		return nil, err
	}
	return next, nil
}

// findState returns the last value of a key in the list.
func findState(list []StateValue, id StateID, key string) StateValue {
	for _, v := range slices.Backward(list) {
		if v.StateID == id && v.Key == key {
			return v
		}
	}
	return StateValue{StateID: id, Key: key}
}

// replaceState returns the list with v instead of the value of the same key. It does not change
// the list.
func replaceState(list []StateValue, v StateValue) []StateValue {
	next := make([]StateValue, 0, len(list)+1)
	for _, old := range list {
		if old.StateID != v.StateID || old.Key != v.Key {
			next = append(next, old)
		}
	}
	return append(next, v)
}

// checkStateSize rejects values that are too large. all are the values of their tools.
func checkStateSize(all, changed []StateValue) error {
	for _, c := range changed {
		if len(c.Value) > MaxStateValue {
			return &StateError{c.StateID, c.Key, false, fmt.Sprintf("it has %d bytes, and a value can have at most %d", len(c.Value), MaxStateValue)}
		}
		total := 0
		for _, v := range all {
			if v.StateID == c.StateID {
				total += len(v.Key) + len(v.Value)
			}
		}
		if total > MaxState {
			return &StateError{c.StateID, c.Key, false, fmt.Sprintf("the values of the tool would have %d bytes, and can have at most %d", total, MaxState)}
		}
	}
	return nil
}

// setBy says who has set the value.
func (v StateValue) setBy() string {
	switch {
	case v.Run != "":
		return "run " + v.Run
	case v.By != "":
		return v.By
	}
	return "somebody"
}
