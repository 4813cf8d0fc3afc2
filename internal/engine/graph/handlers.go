package graph

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// handlerCondition returns the condition of a handler. It depends on how the step or tool of the handler ended, on
// whether an earlier handler failed, and on the handler's own run-condition.
func handlerCondition(s *plan.Step) *dag.When {
	return &dag.When{Uses: dag.UsesCancel, Eval: func(v dag.View) (bool, error) {
		of := s.Handler.Gate
		if s.Handler.Step != "" {
			of = dag.ID(s.Handler.Step)
		}
		switch {
		case !applies(s.Handler, v.Result(of)):
			return false, nil
		case s.When != nil && (s.When.Uses() != expr.UsesNone || !v.Tainted()):
			return eval(s, v)
		}
		return !v.Tainted(), nil
	}}
}

// applies reports whether the handler applies to the result r.
func applies(h *plan.Handler, r *dag.Result) bool {
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
	return call.Began(r) // there is nothing to finish if the step never started
}
