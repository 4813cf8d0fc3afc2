package rundocs

import (
	"encoding/json"
	"time"

	"github.com/flowrun/flowrun/history"
)

// State is the document flowrun/state.v1: values that tools keep between runs.
type State struct {
	Schema string       `json:"schema"`
	Values []StateValue `json:"values"`
}

// StateValue is one value, or one that a key had earlier.
type StateValue struct {
	Tool  string          `json:"tool"`
	File  string          `json:"file,omitempty"`
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	Set   bool            `json:"set"` // false: it is the default of the definition
	Run   string          `json:"run,omitempty"`
	By    string          `json:"by,omitempty"`
	At    time.Time       `json:"at,omitzero"`
}

// StateOf makes the document from values of a Store. A value without a version is a default.
func StateOf(values []history.StateValue) State {
	doc := State{Schema: "flowrun/state.v1", Values: []StateValue{}}
	for _, v := range values {
		doc.Values = append(doc.Values, StateValue{v.Tool, v.File, v.Key, v.Value, v.Version > 0, v.Run, v.By, v.At})
	}
	return doc
}

// WithDefaults returns the values that a tool declares, in the order of the definition: the current
// ones, and defaults for those that were never set.
func WithDefaults(declared []history.StateValue, current []history.StateValue) []history.StateValue {
	list := make([]history.StateValue, 0, len(declared))
	for _, d := range declared {
		for _, v := range current {
			if v.Key == d.Key {
				d = v
			}
		}
		list = append(list, d)
	}
	return list
}
