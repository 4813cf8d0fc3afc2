package interpreter

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dag"
)

// interrupted handles the loss of the worker that carried out a task, as a resume handles a
// program that was killed. It reports whether the task continues, or waits for a person.
func (r *run) interrupted(f *flight) bool {
	rule := "retry" // only attempts of steps have effects
	if k := f.order.Kind; (k == dag.OrderRun || k == dag.OrderFallback) && !f.task.Node().Cleanup {
		rule = r.plan.Interrupt(string(f.order.Path.WithoutKeys()))
	}
	switch {
	case f.stopped != "" || rule == "fail":
		return false
	case rule == "ask":
		r.asked = append(r.asked, f.task)
	default:
		r.start(f.task)
	}
	return true
}

// lost returns the result of an attempt that was interrupted and does not run again.
func (r *run) lost(o *dag.Order, why string) dag.Result {
	now := workflow.Now(r.ctx)
	return dag.Result{Status: dag.Interrupted, ExitCode: 1, Reason: dag.ReasonInterrupted, Attempts: o.Attempt, Started: now, Ended: now,
		Message: "was running when its worker was lost, and " + why}
}

// takeReruns applies what people have decided about interrupted steps.
func (r *run) takeReruns() {
	for _, d := range r.reruns {
		i := slices.IndexFunc(r.asked, func(t dag.Task) bool { return t.Order().Path == d.Step })
		if i < 0 {
			continue
		}
		t := r.asked[i]
		r.asked = slices.Delete(r.asked, i, i+1)
		if d.Yes {
			r.start(t)
			continue
		}
		report := dag.Report{Task: t}
		report.Result = r.lost(t.Order(), "a person decided not to run it again")
		r.in.Reports = append(r.in.Reports, report)
	}
	r.reruns = nil
}

// dropAsked ends the interrupted steps that a cancel ends.
func (r *run) dropAsked(now time.Time) {
	r.asked = slices.DeleteFunc(r.asked, func(t dag.Task) bool {
		reason, _ := r.machine.Stop(t, now)
		if reason == "" {
			return false
		}
		report := dag.Report{Task: t, Stopped: reason}
		report.Result = r.notStarted()
		r.in.Reports = append(r.in.Reports, report)
		r.wakeup = true
		return true
	})
}
