package graph

import (
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/keptstate"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// finish completes the result of the plan's graph.
func finish(p *plan.Plan, v dag.View, r *dag.Result) {
	if p.HasCleanup {
		markFailedCleanups(p, v, r)
	}
	if p.Output != nil {
		render(p, v, r)
	}
	if declaresOutputs(p) {
		addOutputs(p, v, r)
	}
	if p.KeepsState {
		keptstate.Gather(r, func(yield func(*dag.Result) bool) {
			for _, s := range p.Steps {
				if !yield(v.Result(dag.ID(s.Def.Name))) {
					return
				}
			}
		})
	}
	var kept []dag.Artifact
	for _, s := range p.Steps {
		if in := v.Result(dag.ID(s.Def.Name)); in != nil {
			kept = append(kept, passedOn(in.Artifacts())...)
		}
	}
	if len(kept) > 0 {
		r.SetArtifacts(kept)
	}
	if p.Cleanup != nil && r.Status == dag.Succeeded {
		if err := removeTemp(call.FrameOf(v.Args())); err != nil {
			plan.MarkFailedCleanup(r, err.Error())
		}
	}
}

// passedOn returns the artifacts of a step as those of the tool, group or loop around it, which only refers to them.
func passedOn(list []dag.Artifact) (paths []dag.Artifact) {
	for _, a := range list {
		paths = append(paths, dag.Artifact{Name: a.Name, Path: a.Path, Paths: a.Paths})
	}
	return paths
}

// render computes the tool's output from the results of its steps. If the run did not succeed, it has an output only if
// all steps that the output refers to were executed.
func render(p *plan.Plan, v dag.View, r *dag.Result) {
	a := call.FrameOf(v.Args())
	if a.Path == "" && r.Status != dag.Succeeded && !ranForOutput(p, v) {
		r.Stdout, r.Value, r.Structured, r.Content = nil, nil, false, nil
		return
	}
	text, err := p.Output.Text(call.Scope{View: v, Frame: a})
	if err == nil {
		r.Stdout, err = a.Session().Text(a.Path+"@output", 1, text)
		r.Value, r.Structured, r.Content = nil, false, nil
	}
	if err != nil && r.Status == dag.Succeeded {
		r.Status, r.ExitCode, r.Reason = dag.Failed, 1, "output"
		r.Message = a.Session().Mask().String(fmt.Sprintf("cannot render the tool's output: %v", err))
	}
}

// ranForOutput reports whether the output template refers to steps, and all of them were executed.
func ranForOutput(p *plan.Plan, v dag.View) bool {
	mentioned := map[string]steps.Streams{}
	for _, ref := range p.Output.Refs() {
		plan.Mention(mentioned, ref)
	}
	for name := range mentioned {
		if r := v.Result(dag.ID(name)); r == nil || !r.Status.Executed() {
			return false
		}
	}
	return len(mentioned) > 0
}
