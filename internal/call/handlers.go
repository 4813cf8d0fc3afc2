package call

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
)

// outcome is what a handler sees of the run: what the steps it comes after come to
// together; for a handler of a step, that step.
func (s Scope) outcome(r expr.Ref) (expr.Value, error) {
	if s.View == (dag.View{}) {
		return expr.Value{}, expr.ErrUnknown
	}
	for _, gate := range s.Args.Plan.Gates {
		res := s.View.Result(gate)
		if res == nil {
			continue
		}
		switch r.Path[0].Field {
		case "status":
			return expr.Value{V: res.Status.String(), Author: true}, nil
		case "exit-code":
			return expr.Value{V: int64(res.ExitCode)}, nil
		}
		return expr.Value{V: string(res.Culprit), Author: true}, nil
	}
	return expr.Value{}, expr.ErrUnknown
}
