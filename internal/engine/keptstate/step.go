package keptstate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/store/merge"
)

// ReasonConflict is the reason of a run that sets a value which another run has changed in the meantime.
const ReasonConflict = "state-conflict"

// Step runs a step that can set values of its tool's state.
type Step struct{ dag.Runner }

// Inside returns the Runner that this one is around.
func (s Step) Inside() dag.Runner { return s.Runner }

// Run implements dag.Runner.
func (s Step) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	res, err := s.Runner.Run(ctx, c)
	if err != nil || len(res.State()) == 0 {
		return res, err
	}
	if res.Status != dag.Succeeded {
		res.SetState(nil)
		return res, nil
	}
	a := call.FrameOf(c.Args())
	changes := res.State()
	for i := range changes {
		if err := complete(a, &changes[i]); err != nil {
			return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: steps.ReasonState, Message: err.Error(), Stdout: res.Stdout, Stderr: res.Stderr, Usage: res.Usage}, nil
		}
	}
	return res, nil
}

// complete adds to a change what its tool declares, and checks the value.
func complete(a *call.Frame, c *dag.StateChange) error {
	def := a.Plan.Definition
	key, id := def.StateKey(c.Key), call.StateID(def)
	c.Tool, c.File, c.Merge, c.Step = id.Tool, id.File, key.Merge, key.AtStep
	var v any
	if err := value.DecodeJSON(string(c.Value), &v); err != nil {
		return fmt.Errorf("cannot keep %s: %w", c.Key, err)
	}
	mask := a.Session().Mask()
	if slices.ContainsFunc(value.Scalars(v), func(s string) bool { return mask.String(s) != s }) {
		return fmt.Errorf("cannot keep %s: the value contains a secret; keep secrets outside of flowrun", c.Key)
	}
	if key.Merge == merge.Max || key.Merge == merge.Min {
		if err := compareRead(a, c); err != nil {
			return fmt.Errorf("cannot keep %s: %w", c.Key, err)
		}
	}
	return checkSize(c)
}

// compareRead replaces a value by what the run has read if that is larger, or smaller, for merge: max and min: it may be
// the default, which no Store knows.
func compareRead(a *call.Frame, c *dag.StateChange) error {
	read, err := json.Marshal(a.Kept[c.Key])
	if err == nil {
		c.Value, err = merge.Values(c.Merge, read, c.Value)
	}
	return err
}

func checkSize(c *dag.StateChange) error {
	if n := len(c.Value); n > history.MaxStateValue {
		return fmt.Errorf("cannot keep %s: it has %d bytes, and a value can have at most %d", c.Key, n, history.MaxStateValue)
	}
	return nil
}

// Collect adds the changes of a result to those of results before it. A change whose step keeps it at once is left out,
// and so are those of a result that did not succeed.
func Collect(list []dag.StateChange, r *dag.Result) ([]dag.StateChange, error) {
	if r == nil || r.Status != dag.Succeeded && r.Status != dag.Reused {
		return list, nil
	}
	for _, c := range r.State() {
		if c.Step {
			continue
		}
		i := slices.IndexFunc(list, func(o dag.StateChange) bool { return o.Tool == c.Tool && o.File == c.File && o.Key == c.Key })
		if i < 0 {
			list = append(list, c)
			continue
		}
		v, err := merge.Values(c.Merge, list[i].Value, c.Value)
		if err != nil {
			return nil, err
		}
		c.Value = v
		if list[i] = c; checkSize(&c) != nil {
			return nil, checkSize(&c)
		}
	}
	return list, nil
}

// Gather sets the changes of a graph or a loop that has succeeded, from the results of its parts in order. It fails the
// result if they cannot be kept together.
func Gather(r *dag.Result, parts func(yield func(*dag.Result) bool)) {
	r.SetState(nil)
	if r.Status != dag.Succeeded {
		return
	}
	var changes []dag.StateChange
	for part := range parts {
		var err error
		if changes, err = Collect(changes, part); err != nil {
			r.Status, r.ExitCode, r.Reason, r.Message = dag.Failed, 1, steps.ReasonState, err.Error()
			return
		}
	}
	if len(changes) > 0 {
		r.SetState(changes)
	}
}
