package gostep

import (
	"encoding/json"
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Condition decides whether a step runs, by the parameters of its tool and the results of the steps that it reads.
type Condition func(params, results map[string]any) (bool, error)

// On returns the condition as a plan has it. The error, also that of a panic, holds no secrets, because it becomes the
// step's message.
func (c Condition) On(reads []plan.WithValue) plan.Decide {
	return func(v dag.View) (yes bool, err error) {
		a := call.FrameOf(v.Args())
		defer func() {
			if p := recover(); p != nil {
				yes, err = false, fmt.Errorf("panic: %v", p)
			}
			err = a.WithoutSecrets(err)
		}()
		read, err := results(reads, v)
		if err != nil {
			return false, err
		}
		return c(InputOf(a).Params, read)
	}
}

// results returns what references to results of steps give. That of a step that was skipped is missing.
func results(reads []plan.WithValue, v dag.View) (map[string]any, error) {
	if reads == nil {
		return nil, nil
	}
	a := call.FrameOf(v.Args())
	read := make(map[string]any, len(reads))
	for _, r := range reads {
		switch value, err := r.Value.Value(a.Scope(v)); {
		case err != nil:
			return nil, err
		case value != nil:
			read[r.Param] = value
		}
	}
	return read, nil
}

// Into converts a value in the types of encoding/json to T. nil gives the zero T.
func Into[T any](v any) (T, error) {
	var to T
	if v == nil {
		return to, nil
	}
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &to)
	}
	return to, err
}

// ReadResult parses what a step of a Graph printed: one JSON value. Numbers keep their digits.
func ReadResult(text string) (v any, err error) {
	err = value.DecodeJSON(text, &v)
	return v, err
}
