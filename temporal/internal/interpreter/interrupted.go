package interpreter

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// interrupted handles the loss of the worker that carried out a task, as a resume handles a
// program that was killed: the task is carried out again, or a person decides, or the attempt
// counts as interrupted.
func (r *run) interrupted(f *flight) {
	rule := "retry" // only attempts of steps have effects
	if k := f.order.Kind; (k == dag.OrderRun || k == dag.OrderFallback) && !f.task.Node().Cleanup {
		rule = r.plan.Interrupt(string(f.order.Path.WithoutKeys()))
	}
	now := workflow.Now(r.ctx)
	report := dag.Report{Task: f.task, Stopped: f.stopped}
	report.Result = dag.Result{Status: dag.Interrupted, ExitCode: 1, Reason: dag.ReasonInterrupted, Attempts: f.order.Attempt, Started: now, Ended: now,
		Message: "was running when its worker was lost, and must not run twice (on-interrupt: fail)"}
	switch {
	case f.stopped != "" || rule == "fail":
	case rule == "ask":
		report.Result.Status, report.Result.Message = dag.Waiting, "was running when its worker was lost"
		report.Result.Wait = &dag.Wait{Kind: "approval", Asks: true,
			Prompt: fmt.Sprintf("Step %s was running when its worker was lost, and may have had effects. Run it again?", f.order.Path)}
	default:
		r.start(f.task)
		return
	}
	r.in.Reports = append(r.in.Reports, report)
}

// decide returns what the answer to the question means whether an interrupted step runs again.
// It returns false for another question.
func (r *run) decide(q history.Question, a history.Answer) (d dag.Answer, ok bool) {
	r.machine.State().Waits(func(path dag.ID, wait uint64, res *dag.Result) {
		ok = ok || wait == q.Wait && res.Reason == dag.ReasonInterrupted
	})
	d = dag.Answer{Node: dag.ID(q.Step), Wait: q.Wait, Restart: a.Approve}
	if !a.Approve {
		d.Result = &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInterrupted, Message: "was running when its worker was lost, and a person decided not to run it again"}
	}
	return d, ok
}
