package flowrun

import (
	"context"
	"fmt"

	"github.com/flowrun/flowrun/dag"
)

// bind makes the arguments of a nested tool: what with says, seen from the outer
// tool, taken through the nested tool's own parameters. It runs in a worker.
func (s *planStep) bind(ctx context.Context, c *dag.Call) (dag.Args, error) {
	if err := s.nested.Supported(); err != nil {
		return nil, err
	}
	outer := c.Args().(*callArgs)
	raw, err := s.withValues(scope{view: c.View, args: outer})
	if err != nil {
		return nil, outer.withoutSecrets(err)
	}
	a, err := s.nested.bind(ctx, outer.world, raw)
	if err != nil {
		return nil, outer.withoutSecrets(err)
	}
	a.inherit(outer)
	return a, a.withoutSecrets(a.begin(ctx, outer.Session(), c.Run, c.Path))
}

func (s *planStep) withValues(sc scope) (map[string]given, error) {
	raw := make(map[string]given, len(s.with))
	for _, w := range s.with {
		watch := &callerWatch{Scope: sc}
		v, err := w.value.value(watch)
		if err != nil {
			return nil, fmt.Errorf("cannot render %s.%s: %w", sc.args.plan.withKey(), w.param, err)
		}
		if v == nil {
			continue // an absent parameter, a skipped step: not given
		}
		raw[w.param] = given{v: v, author: !watch.caller}
	}
	return raw, s.withFields(sc, raw)
}

// withFields adds the fields of an object for which with has no values.
func (s *planStep) withFields(sc scope, raw map[string]given) error {
	if s.withAll == nil {
		return nil
	}
	watch := &callerWatch{Scope: sc}
	v, err := s.withAll.value(watch)
	if err != nil {
		return fmt.Errorf("cannot render %s: %w", sc.args.plan.withKey(), err)
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("cannot render %s: an object was expected, found %s", sc.args.plan.withKey(), kindOf(v))
	}
	for name, v := range fields {
		if _, said := raw[name]; !said && v != nil {
			raw[name] = given{v: v, author: !watch.caller}
		}
	}
	return nil
}

// inherit takes over what a tool has of the one that uses it.
func (a *callArgs) inherit(outer *callArgs) {
	a.answers, a.cache, a.answerable, a.state, a.tools, a.calling = outer.answers, outer.cache, outer.answerable, outer.state, outer.tools, outer.calling
	a.confine = a.confine.Within(outer.confine)
}
