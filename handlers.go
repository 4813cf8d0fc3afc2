package flowrun

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// handler is when a step of on-success, on-failure or finally runs.
type handler struct {
	key  string // on-success, on-failure, finally
	step string // the step it belongs to; "" for the tool
	gate dag.ID // the join that sums up what went before
}

// gateOf names the join that the handlers of a step, or of the tool (""), wait for:
// one for on-success and on-failure, one for finally, which comes after them.
func gateOf(step, key string) dag.ID {
	if key == "finally" {
		return dag.ID("@finally@" + step)
	}
	return dag.ID("@ended@" + step)
}

// handled compiles the handlers of a step, or of the tool (nil), in the order they
// can run. The first step of each gate brings the gate.
func (c *sequenceCompiler) handled(of *tool.Step, h *tool.Handlers, path string) []*planStep {
	var all []*planStep
	gates := map[dag.ID]*dag.Node{}
	list := func(key string, steps []*tool.Step) {
		if len(steps) == 0 {
			return
		}
		role := &handler{key: key}
		if of != nil {
			role.step = of.Name
		}
		role.gate = gateOf(role.step, key)
		inner := &sequenceCompiler{compiler: c.compiler, plan: c.plan, steps: steps, path: path + key,
			names: c.names.within(map[string]bool{"run": true}).and(steps), said: c.said, handler: role, kept: c.kept}
		compiled := inner.compile()
		if len(compiled) == 0 {
			return
		}
		if gates[role.gate] == nil {
			compiled[0].gate = dag.Node{ID: role.gate, After: ids(all), Sums: ids(all)}
			gates[role.gate] = &compiled[0].gate
			c.plan.gates = append(c.plan.gates, role.gate)
		}
		gate := gates[role.gate]
		if own := dag.ID(role.step); own != "" && !slices.Contains(gate.Sums, own) {
			gate.Sums, gate.After = append(gate.Sums, own), append(gate.After, own)
		}
		wait(gate, inner.outside)
		for _, s := range compiled {
			s.after = append(s.after, role.gate)
		}
		all = append(all, compiled...)
	}
	list("on-success", h.OnSuccess)
	list("on-failure", h.OnFailure)
	list("finally", h.Finally)
	return all
}

func ids(list []*planStep) []dag.ID {
	var all []dag.ID
	for _, s := range list {
		all = append(all, dag.ID(s.def.Name))
	}
	return all
}

// wait adds edges to a join, each once.
func wait(n *dag.Node, edges []edge) {
	for _, e := range edges {
		if id := dag.ID(e.to); !slices.Contains(n.After, id) {
			n.After = append(n.After, id)
		}
	}
}

// whenHandled is the condition of a handler: how what it belongs to ended, that no handler
// before it failed, and the step's own.
func (s *planStep) whenHandled() *dag.When {
	return &dag.When{Sees: dag.SeesCancel, Eval: func(v dag.View) (bool, error) {
		of := s.handler.gate
		if s.handler.step != "" {
			of = dag.ID(s.handler.step)
		}
		switch {
		case !s.handler.fits(v.Result(of)):
			return false, nil
		case s.when != nil && (s.when.Uses() != expr.UsesNone || !v.Tainted()):
			return s.eval(v)
		}
		return !v.Tainted(), nil
	}}
}

// Handler says when the step with that path runs, where it is one of a list of handlers:
// the key of the list (on-success, on-failure or finally) and the step it belongs to, ""
// for the tool. For other steps both are "".
func (p *compiledPlan) Handler(path string) (key, step string) {
	if _, s := p.find(dag.ID(path)); s != nil && s.handler != nil {
		return s.handler.key, s.handler.step
	}
	return "", ""
}

// fits says whether a handler is there for what ended in r.
func (h *handler) fits(r *dag.Result) bool {
	switch {
	case r == nil:
		return false
	case h.key == "on-success":
		return r.Status == dag.Succeeded || r.Status == dag.Reused
	case h.key == "on-failure":
		return r.Status == dag.Failed || r.Status == dag.TimedOut || r.Status == dag.Interrupted
	case h.step == "":
		return true
	}
	return began(r) // a step that never began leaves nothing to finish
}

// runFields are what handlers may ask of the run.
var runFields = []string{"status", "exit-code", "failed-step"}

// checkRun reports a field of {run...} that there is not.
func (c *stepCompiler) checkRun(at tool.Text, r expr.Ref) {
	if r.Class != expr.Local || r.Root != "run" {
		return
	}
	if len(r.Path) != 1 || !slices.Contains(runFields, r.Path[0].Field) {
		c.report(tool.Diagnostic{Code: "unknown-field", Severity: tool.Error, Pos: at.At(r.Off), Len: r.Len,
			Message: fmt.Sprintf("%s names nothing of the run", r), Hint: "write {run.status}, {run.exit-code} or {run.failed-step}"})
	}
}

// outcome is what a handler sees of the run: what the steps it comes after come to
// together; for a handler of a step, that step.
func (s scope) outcome(r expr.Ref) (expr.Value, error) {
	if s.view == (dag.View{}) {
		return expr.Value{}, expr.ErrUnknown
	}
	for _, gate := range s.args.plan.gates {
		res := s.view.Result(gate)
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
