package graph

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
)

// cleanupRunner runs a tool's resources.cleanup after everything else, also if the run failed: all final commands, then
// the removal of the temporary directory, if the tool says so. Otherwise it stays until the call has succeeded, for the
// steps that are resumed. A failure does not fail the run and does not prevent the rest of the cleanup.
type cleanupRunner struct{ *plan.Cleanup }

func (u cleanupRunner) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	res := dag.Result{Status: dag.Succeeded}
	for i, cmd := range u.Commands {
		call := *c
		call.Path = dag.ID(fmt.Sprintf("%s-%d", c.Path, i+1))
		r, err := cmd.Run(ctx, &call)
		if err != nil {
			return r, err
		}
		if r.Stdout != nil {
			res.Stdout = r.Stdout
		}
		if r.Status != dag.Succeeded && res.Status == dag.Succeeded {
			why := cmp.Or(r.Message, fmt.Sprintf("exit code %d", r.ExitCode))
			res = dag.Result{Status: dag.Failed, ExitCode: r.ExitCode, Reason: r.Reason, Stdout: r.Stdout, Stderr: r.Stderr,
				Message: fmt.Sprintf("cleanup command %d failed: %s", i+1, why)}
		}
	}
	if a := call.FrameOf(c.Args()); a.Plan.Definition.Resources.DeleteTempFiles {
		if err := removeTemp(a); err != nil && res.Status == dag.Succeeded {
			res = dag.Result{Status: dag.Failed, ExitCode: 1, Message: err.Error()}
		}
	}
	return res, nil
}

// removeTemp removes the temporary directory of a call.
func removeTemp(a *call.Frame) error {
	if a.Temp() == "" {
		return nil
	}
	if err := os.RemoveAll(a.Temp()); err != nil {
		return fmt.Errorf("cannot remove the temporary directory: %w", err)
	}
	return nil
}

// markFailedCleanups marks the result of a successful graph if a cleanup in it failed: its own, or that of a tool used
// by a step.
func markFailedCleanups(p *plan.Plan, v dag.View, r *dag.Result) {
	if p.Cleanup != nil {
		if c := v.Result(plan.CleanupID); c != nil && c.Status != dag.Succeeded {
			plan.MarkFailedCleanup(r, cmp.Or(c.Message, "the cleanup is "+c.Status.String()))
		}
	}
	for _, s := range p.Steps {
		switch {
		case s.IsModule():
			passFailedCleanup(r, v.Result(dag.ID(s.Def.Name)), "")
		case s.Nested != nil && s.Nested.HasCleanup:
			passFailedCleanup(r, v.Result(dag.ID(s.Def.Name)), "step "+s.Def.Name+": ")
		}
	}
}

// passFailedCleanup copies the mark of a step whose cleanup failed to the result of the graph or loop that contains the
// step.
func passFailedCleanup(r, step *dag.Result, which string) {
	if step != nil && step.Status == dag.Succeeded && step.Reason == plan.ReasonCleanup {
		plan.MarkFailedCleanup(r, which+step.Message)
	}
}
