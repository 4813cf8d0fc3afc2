package call

import (
	"context"
	"fmt"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// StateReader reads the values that a tool has kept, for a run.
type StateReader func(context.Context, history.StateID) ([]history.StateValue, error)

// StateID identifies the tool whose state a definition declares. An alias has a state of its own.
func StateID(def *tool.Definition) history.StateID {
	return history.StateID{Tool: def.Name, File: def.File}
}

// StateDefaults returns the values that a tool declares, with their defaults.
func StateDefaults(def *tool.Definition) []history.StateValue {
	list := make([]history.StateValue, len(def.State))
	for i, k := range def.State {
		list[i] = history.StateValue{StateID: StateID(def), Key: k.Name, Value: k.Default}
	}
	return list
}

// ReadState reads the state of the call's tool, so that steps can refer to it.
func (a *Frame) ReadState(ctx context.Context) error {
	def := a.Plan.Definition
	read := a.States
	if a.preview {
		read = a.RunEnv.State
	}
	if len(def.State) == 0 || read == nil {
		return nil
	}
	values, err := read(ctx, StateID(def))
	if err != nil {
		return fmt.Errorf("cannot read the state of tool %s: %w", def.Name, err)
	}
	a.Kept = make(map[string]any, len(def.State))
	for _, k := range def.State {
		text := string(k.Default)
		for _, v := range values {
			if v.Key == k.Name {
				text = string(v.Value)
			}
		}
		var v any
		if err := value.DecodeJSON(text, &v); err != nil {
			return fmt.Errorf("cannot read the state of tool %s: %s: %w", def.Name, k.Name, err)
		}
		if a.Kept[k.Name] = value.OfType(k.Type, v); a.Kept[k.Name] == nil {
			return fmt.Errorf("cannot read the state of tool %s: %s is kept as %s, but its type is %s; set it with flowrun state set", def.Name, k.Name, value.KindOf(v), k.Type)
		}
	}
	return nil
}

// kept returns the value of a reference to the state.
func (a *Frame) kept(r expr.Ref) (expr.Value, error) {
	if a.Kept == nil || len(r.Path) == 0 {
		return expr.Value{}, expr.ErrUnknown
	}
	v := expr.Value{V: a.Kept[r.Path[0].Field], Author: true}
	r.Path = r.Path[1:]
	return descend(v, r)
}
