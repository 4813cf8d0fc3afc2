package graph

import (
	"context"
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// bind computes the arguments of a nested tool: the values of with, evaluated in the outer tool and bound to the nested
// tool's parameters. It runs in a worker.
func bind(ctx context.Context, s *plan.Step, c *dag.Call) (dag.Args, error) {
	if err := s.Nested.Supported(); err != nil {
		return nil, err
	}
	outer := call.FrameOf(c.Args())
	raw, err := withValues(s, call.Scope{View: c.View, Frame: outer})
	if err != nil {
		return nil, outer.WithoutSecrets(err)
	}
	params, err := call.BindGiven(ctx, s.Nested, outer.RunEnv, raw)
	if err != nil {
		return nil, outer.WithoutSecrets(err)
	}
	a := params.Frame()
	a.Inherit(outer)
	return a, a.WithoutSecrets(a.Begin(ctx, outer.Session(), c.Run, c.Path))
}

func withValues(s *plan.Step, sc call.Scope) (map[string]call.Given, error) {
	raw := make(map[string]call.Given, len(s.With))
	for _, w := range s.With {
		watch := &expr.Watch{Scope: sc}
		v, err := w.For(s.Nested, watch)
		if err != nil {
			return nil, fmt.Errorf("cannot render %s.%s: %w", sc.Frame.Plan.WithKey(), w.Param, err)
		}
		if v == nil {
			continue // an absent parameter or a skipped step: the parameter is not set
		}
		raw[w.Param] = call.Given{V: v, Author: !watch.Caller}
	}
	return raw, withFields(s, sc, raw)
}

// withFields adds the fields of the WithAll object that with does not set.
func withFields(s *plan.Step, sc call.Scope, raw map[string]call.Given) error {
	if s.WithAll == nil {
		return nil
	}
	watch := &expr.Watch{Scope: sc}
	v, err := s.WithAll.Value(watch)
	if err != nil {
		return fmt.Errorf("cannot render %s: %w", sc.Frame.Plan.WithKey(), err)
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("cannot render %s: expected an object, found %s", sc.Frame.Plan.WithKey(), value.KindOf(v))
	}
	for name, v := range fields {
		if _, given := raw[name]; !given && v != nil {
			raw[name] = call.Given{V: v, Author: !watch.Caller}
		}
	}
	return nil
}
