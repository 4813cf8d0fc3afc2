package graph

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/plan"
)

// whenHandled is the condition of a handler: how what it belongs to ended, that no handler
// before it failed, and the step's own.
func whenHandled(s *plan.Step) *dag.When {
	return &dag.When{Uses: dag.UsesCancel, Eval: func(v dag.View) (bool, error) {
		of := s.Handler.Gate
		if s.Handler.Step != "" {
			of = dag.ID(s.Handler.Step)
		}
		switch {
		case !fits(s.Handler, v.Result(of)):
			return false, nil
		case s.When != nil && (s.When.Uses() != expr.UsesNone || !v.Tainted()):
			return eval(s, v)
		}
		return !v.Tainted(), nil
	}}
}

// fits says whether a handler is there for what ended in r.
func fits(h *plan.Handler, r *dag.Result) bool {
	switch {
	case r == nil:
		return false
	case h.Key == "on-success":
		return r.Status == dag.Succeeded || r.Status == dag.Reused
	case h.Key == "on-failure":
		return r.Status == dag.Failed || r.Status == dag.TimedOut || r.Status == dag.Interrupted
	case h.Step == "":
		return true
	}
	return call.Began(r) // a step that never began leaves nothing to finish
}
