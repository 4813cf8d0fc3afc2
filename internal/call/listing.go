package call

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
)

// Lookup finds what a reference stands for.
func (u Uncut) Lookup(r expr.Ref) (expr.Value, error) {
	v, err := u.Scope.Lookup(r)
	if err != nil || r.Class != expr.Step {
		return v, err
	}
	var o *dag.Output
	switch res := u.View.Result(dag.ID(r.Root)); r.Path[0].Field {
	case "output", "stdout":
		o = res.Stdout
	case "error", "stderr":
		o = res.Stderr
	}
	if o != nil && o.Truncated {
		return v, errCut
	}
	return v, nil
}
