package compile

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// gateID returns the ID of the join that the handlers of a step, or of the tool (""), wait for. There is one join for
// on-success and on-failure, and a later one for finally.
func gateID(step, key string) dag.ID {
	if key == "finally" {
		return dag.ID("@finally@" + step)
	}
	return dag.ID("@ended@" + step)
}

// compileHandlers compiles the handlers of a step, or of the tool (nil), in the order in which they run. The first step
// of each gate contains the gate.
func (c *sequenceCompiler) compileHandlers(of *tool.Step, h *tool.Handlers, path string) []*plan.Step {
	var all []*plan.Step
	gates := map[dag.ID]*dag.Node{}
	list := func(key string, steps []*tool.Step) {
		if len(steps) == 0 {
			return
		}
		role := &plan.Handler{Key: key}
		if of != nil {
			role.Step = of.Name
		}
		role.Gate = gateID(role.Step, key)
		inner := &sequenceCompiler{tool: c.tool, steps: steps, path: path + key,
			names: c.names.WithLocals(map[string]bool{"run": true}).WithSteps(steps), inherited: c.inherited, handler: role}
		compiled := inner.compile()
		if len(compiled) == 0 {
			return
		}
		if gates[role.Gate] == nil {
			compiled[0].Gate = &dag.Node{ID: role.Gate, After: ids(all), Summarizes: ids(all)}
			gates[role.Gate] = compiled[0].Gate
			c.tool.plan.Gates = append(c.tool.plan.Gates, role.Gate)
		}
		gate := gates[role.Gate]
		if own := dag.ID(role.Step); own != "" && !slices.Contains(gate.Summarizes, own) {
			gate.Summarizes, gate.After = append(gate.Summarizes, own), append(gate.After, own)
		}
		gate.After = addEdges(gate.After, inner.outerEdges)
		for _, s := range compiled {
			s.After = append(s.After, role.Gate)
		}
		all = append(all, compiled...)
	}
	list("on-success", h.OnSuccess)
	list("on-failure", h.OnFailure)
	list("finally", h.Finally)
	return all
}

func ids(list []*plan.Step) []dag.ID {
	var all []dag.ID
	for _, s := range list {
		all = append(all, dag.ID(s.Def.Name))
	}
	return all
}

// checkRun reports an unknown field of {run...}.
func checkRun(at tool.Text, r expr.Ref) tool.Diagnostics {
	if r.Class == expr.Local && r.Root == "run" && (len(r.Path) != 1 || !slices.Contains(plan.RunFields(), r.Path[0].Field)) {
		return tool.Diagnostics{{Code: "unknown-field", Severity: tool.Error, Pos: at.At(r.Off), Len: r.Len,
			Message: fmt.Sprintf("%s is not a field of the run", r), Hint: "write {run.status}, {run.exit-code} or {run.failed-step}"}}
	}
	return nil
}
