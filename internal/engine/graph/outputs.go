package graph

import (
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// declaresOutputs reports whether a plan has declared outputs.
func declaresOutputs(p *plan.Plan) bool {
	return len(p.Outputs) > 0 || p.PassesOutputs()
}

// addOutputs sets the declared outputs of a tool or of a group from the results of its steps.
func addOutputs(p *plan.Plan, v dag.View, r *dag.Result) {
	a := call.FrameOf(v.Args())
	if p.PassesOutputs() {
		if step := v.Result(dag.ID(p.Steps[0].Def.Name)); step != nil {
			r.Outputs = step.Outputs
		}
		return
	}
	entries, declared := make([]stepfile.Entry, 0, len(p.Outputs)), make([]stepfile.Declaration, len(p.Outputs))
	var failed error
	for i, o := range p.Outputs {
		declared[i] = o.Declaration
		value, err := o.Value.Value(call.Scope{View: v, Frame: a})
		if err == nil {
			value, err = stepfile.Values(value)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", o.Name, err))
		}
		entries = append(entries, stepfile.Entry{Name: o.Name, Value: value, Text: true})
	}
	err := a.Session().CollectOutputs(r, entries, failed, "the outputs of "+p.Name(), declared)
	finishOutputs(a, r, err)
}

// maxLoopOutputs limits the outputs of a loop, as JSON: they are recorded as a whole.
const maxLoopOutputs = 8 << 20

// gatherOutputs sets the declared outputs of a loop: for each output, the list of the values of all items. An item that
// has none is null.
func gatherOutputs(s *plan.Step, a *call.Frame, items []*dag.Result, r *dag.Result) {
	declared := s.Declared()
	if len(declared) == 0 {
		return
	}
	all := make(map[string]any, len(declared))
	lists := make([][]any, len(declared))
	for i, o := range declared {
		lists[i] = make([]any, len(items))
		all[o.Name] = lists[i]
	}
	for at, it := range items {
		values, err := it.Outputs.All()
		if err != nil {
			finishOutputs(a, r, err)
			return
		}
		for i, o := range declared {
			lists[i][at] = values[o.Name]
		}
	}
	outputs, err := a.Session().Outputs(all)
	if err == nil && len(outputs.Values) > maxLoopOutputs {
		err = fmt.Errorf("the outputs of all items together have more than %d bytes", maxLoopOutputs)
	}
	if err == nil {
		r.Outputs = outputs
	}
	finishOutputs(a, r, err)
}

// finishOutputs fails a successful result if its outputs could not be made.
func finishOutputs(a *call.Frame, r *dag.Result, err error) {
	if err != nil && r.Status == dag.Succeeded {
		r.Status, r.ExitCode, r.Reason = dag.Failed, 1, steps.ReasonOutputs
		r.Message = a.Session().Mask().String("wrong outputs: " + err.Error())
	}
}
