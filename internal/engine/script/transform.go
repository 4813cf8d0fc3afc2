package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// Transform is a parameter's transform in JavaScript: an expression over value.
type Transform struct {
	Script *jsrun.Script

	mu          sync.Mutex
	lastFailure lastFailure
}

// lastFailure holds the last value for which the script ran out of time or memory. A call binds its parameters more
// than once, and must not wait for the same failure each time.
type lastFailure struct {
	value string // as JSON
	err   error
	at    time.Time
}

// failureMemory is how long that failure is remembered. It is short, because a busy machine may have been the reason.
const failureMemory = time.Minute

// Apply returns the transformed value. An array is transformed element by element; nil stays nil. The result is a
// text, a number, true or false.
func (t *Transform) Apply(ctx context.Context, rt *jsrun.Runtime, v any) (any, error) {
	list, isList := v.([]any)
	switch {
	case v == nil:
		return nil, nil
	case !isList:
		return t.call(ctx, rt, v)
	}
	out := make([]any, len(list))
	for i, e := range list {
		var err error
		if out[i], err = t.Apply(ctx, rt, e); err != nil {
			return nil, &value.ElementError{Index: i, Err: err}
		}
	}
	return out, nil
}

// IsConstant reports whether the result of Apply is a text that the author wrote in the script, or a list of such
// texts.
func (t *Transform) IsConstant(result any) bool {
	switch r := result.(type) {
	case string:
		return slices.Contains(t.Script.Constants(), r)
	case []any:
		return len(r) > 0 && !slices.ContainsFunc(r, func(e any) bool { return !t.IsConstant(e) })
	}
	return false
}

func (t *Transform) call(ctx context.Context, rt *jsrun.Runtime, v any) (any, error) {
	key, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("cannot transform the value: %w", err)
	}
	if err := t.recentFailure(string(key)); err != nil {
		return nil, err
	}
	result, err := t.run(ctx, rt, v)
	var bad *jsrun.Error
	if errors.As(err, &bad) && (bad.Kind == jsrun.KindTimeout || bad.Kind == jsrun.KindMemory) {
		t.mu.Lock()
		t.lastFailure = lastFailure{string(key), err, time.Now()}
		t.mu.Unlock()
	}
	return result, err
}

// recentFailure returns why the script recently failed for this value, nil if it did not.
func (t *Transform) recentFailure(key string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.lastFailure; s.err != nil && s.value == key && time.Since(s.at) < failureMemory {
		return s.err
	}
	return nil
}

func (t *Transform) run(ctx context.Context, rt *jsrun.Runtime, v any) (any, error) {
	out, err := rt.Call(ctx, jsrun.Call{Script: t.Script, Vars: map[string]any{"value": v}})
	if err != nil {
		return nil, fmt.Errorf("cannot transform the value: %w", errorWithPosition(err))
	}
	var result any
	if out != nil {
		if err := value.DecodeJSON(string(out), &result); err != nil {
			return nil, fmt.Errorf("cannot read the result of the transform: %w", err)
		}
	}
	switch result := result.(type) {
	case string:
		if len(result) > valuetext.MaxValue {
			return nil, &valuetext.SizeError{What: "the result of the transform", Max: valuetext.MaxValue}
		}
		return result, nil
	case bool:
		return result, nil
	case json.Number:
		return value.ParseNumber(result.String())
	}
	return nil, fmt.Errorf("cannot use the result of the transform: it is %s, but must be text, a number, true or false", describeValue(result, out))
}

// errorWithPosition puts the position in the author's file in front of a script's error.
func errorWithPosition(err error) error {
	var bad *jsrun.Error
	if errors.As(err, &bad) && bad.Pos.Line > 0 {
		return fmt.Errorf("%s: %w", bad.Pos, err)
	}
	return err
}
