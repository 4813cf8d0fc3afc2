package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// maxCalls limits how deep tools may call each other with api.callTool.
const maxCalls = 16

// callTool runs another tool inside the calling step, and returns its output as a value. It uses the slot of the
// calling step, belongs to the same run and ends with it; its steps have logs but no events. No person is asked for
// approval: the permissions of the calling tool must name the tool, and Config.MayCall must allow it.
func (t *toolAPI) callTool(ctx context.Context, name string, params map[string]any) (any, error) {
	outer := t.args
	chain := append(slices.Clone(outer.Calling), outer.Plan.Name())
	if slices.Contains(chain, name) || len(chain) > maxCalls {
		return nil, fmt.Errorf("cannot call the tool %s: the tools call each other in a cycle: %s", name, strings.Join(append(chain, name), " -> "))
	}
	if err := call.Grants(outer).CallTool(name); err != nil {
		return nil, err
	}
	plan, err := outer.Plan.Called(name)
	if err != nil {
		return nil, fmt.Errorf("cannot call the tool %s: %w", name, err)
	}
	if may := outer.RunEnv.MayCall; may != nil {
		if err := may(plan.Tools()); err != nil {
			return nil, fmt.Errorf("cannot call the tool %s: %w", name, err)
		}
	}
	if plan.KeepsState {
		return nil, fmt.Errorf("cannot call the tool %s: it keeps state, which is not possible in api.callTool; use it as a step of a tool", name)
	}
	values := make(map[string]call.Given, len(params))
	for k, v := range params {
		values[k] = call.Given{V: v, Author: !outer.HasCallerValues()}
	}
	bound, err := call.BindGiven(ctx, plan, outer.RunEnv, values)
	if err != nil {
		return nil, err
	}
	path := dag.ID(fmt.Sprintf("%s/call%d-%s", t.call.Path, t.calls.Add(1), name))
	a := bound.Frame()
	a.Inherit(outer)
	a.Calling = chain
	if err := a.Begin(ctx, outer.Session(), t.call.Run, path); err != nil {
		return nil, err
	}
	res, err := runInside(ctx, plan.Graph, a, path)
	switch {
	case err != nil:
		return nil, err
	case res.Status != dag.Succeeded && res.Status != dag.Reused:
		return nil, fmt.Errorf("the tool %s failed: %s", name, res.Message)
	case res.Value != nil || res.Structured:
		return res.Value, nil
	case res.Stdout == nil:
		return nil, nil
	}
	return value.WithoutLineEnd(res.Stdout.Raw), nil
}

// runInside runs a graph inside a step: in the step's slot, under its path. The message of a failed result is that of
// its cause.
func runInside(ctx context.Context, g *dag.Graph, a dag.Args, path dag.ID) (*dag.Result, error) {
	state, err := dag.Run(ctx, g, a, dag.Options{Slots: dag.NewSlots(1), Around: func(ctx context.Context, c *dag.Call, r dag.Runner) (dag.Result, error) {
		inner := *c
		inner.Path = path + "/" + c.Path
		return r.Run(ctx, &inner)
	}})
	if err != nil {
		return nil, err
	}
	if state.Result() == nil {
		return nil, errors.New("it waits for a person, which is not possible in api.callTool: use it as a step of a tool")
	}
	res := *state.Result()
	if res.Status != dag.Succeeded && res.Status != dag.Reused {
		res.Message = failureOf(state)
	}
	return &res, nil
}

// failureOf returns in one line why a graph failed: the message, or the last line of output, of the step that failed
// first, however deep inside.
func failureOf(state *dag.State) string {
	first := state.Result()
	state.All(func(_ dag.ID, _ *dag.Node, status dag.Status, r *dag.Result) {
		broke := (status == dag.Failed || status == dag.TimedOut) && !r.Tolerated && r.Culprit == ""
		if broke && (first.Culprit != "" || r.Ended.Before(first.Ended)) {
			first = r
		}
	})
	switch {
	case first.Message != "":
		return first.Message
	case first.Status == dag.TimedOut:
		return "it exceeded its timeout"
	case first.Stderr != nil && int64(len(first.Stderr.Inline)) == first.Stderr.Size:
		lines := strings.Split(strings.TrimSpace(first.Stderr.Inline), "\n")
		return strings.TrimSuffix(fmt.Sprintf("exit %d: %s", first.ExitCode, lines[len(lines)-1]), ": ")
	}
	return fmt.Sprintf("exit %d", first.ExitCode)
}
