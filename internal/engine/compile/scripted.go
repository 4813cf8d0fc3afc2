package compile

import (
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// markScripts adds to Scripts the steps whose results a script inside them can make of a caller's value: groups with a
// script, also that of a step with post-processing, and used tools with a script that get such a value. Steps that run
// commands are none: what a command prints is its own.
func markScripts(p *plan.Plan) {
	for marked := -1; marked != len(p.Scripts); { // a step can get the result of one further down
		marked = len(p.Scripts)
		markScriptsIn(p, p.Steps)
	}
}

func markScriptsIn(p *plan.Plan, list []*plan.Step) (any bool) {
	for _, s := range list {
		switch {
		case s.Nested == nil:
		case s.Nested.Group:
			if markScriptsIn(p, s.Nested.Steps) {
				p.Scripts[s.Def.Name] = true
			}
		case len(s.Nested.Scripts) > 0 && slices.ContainsFunc(withRefs(s), func(r expr.Ref) bool { return fromCaller(p, r) }):
			p.Scripts[s.Def.Name] = true
		}
		any = any || p.Scripts[s.Def.Name]
	}
	return any
}

// withRefs returns what a step passes to the tool that it uses.
func withRefs(s *plan.Step) (refs []expr.Ref) {
	for _, w := range s.With {
		refs = append(refs, w.Value.Refs()...)
	}
	if s.WithAll != nil {
		refs = append(refs, s.WithAll.Refs()...)
	}
	return refs
}

// fromCaller reports whether a reference may have a value of the caller, or one that a script made of it.
func fromCaller(p *plan.Plan, r expr.Ref) bool {
	switch r.Class {
	case expr.Parameter, expr.Arguments, expr.Local:
		return true
	case expr.Step:
		return p.Scripts[r.Root]
	}
	return false
}
