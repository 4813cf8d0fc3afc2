package interpreter

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/store/eventcode"
	"github.com/flowrun/flowrun/temporal/internal/queue"
)

// listen receives signals for as long as the run lasts.
func (r *run) listen() {
	receive(r, AnswerSignal, func(a history.Answer) { r.answers = append(r.answers, a) })
	receive(r, queue.GrantSignal, func(p queue.Place) { r.grants = append(r.grants, p) })
	receive(r, ForceSignal, func(struct{}) { r.in.Force, r.in.Cancel = true, true })
}

func receive[T any](r *run, signal string, handle func(T)) {
	ch := workflow.GetSignalChannel(r.ctx, signal)
	workflow.Go(r.ctx, func(ctx workflow.Context) {
		for {
			var v T
			if !ch.Receive(ctx, &v) {
				return
			}
			handle(v)
			r.wakeup = true
		}
	})
}

// takeAnswers turns answers of people into results of the steps that asked. Those to no open
// question are dropped.
func (r *run) takeAnswers() {
	answers := r.answers
	r.answers = nil
	for _, a := range answers {
		open := r.plan.Questions(r.input.Record.ID, r.machine.State())
		i := slices.IndexFunc(open, func(q history.Question) bool { return q.Step == a.Step && (a.Wait == 0 || q.Wait == a.Wait) })
		if i < 0 {
			continue
		}
		if d, ok := r.decide(open[i], a); ok {
			r.in.Answers = append(r.in.Answers, d)
			continue
		}
		if a.At.IsZero() {
			a.At = workflow.Now(r.ctx)
		}
		ctx := workflow.WithLocalActivityOptions(r.ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute, Summary: "answer to " + a.Step})
		var res dag.Result
		if err := workflow.ExecuteLocalActivity(ctx, AnswerActivity, r.input, open[i], a).Get(ctx, &res); err != nil {
			r.err = err
			return
		}
		r.in.Answers = append(r.in.Answers, dag.Answer{Node: dag.ID(a.Step), Wait: open[i].Wait, Result: &res})
	}
}

// continueAfter is the number of events in the history of a workflow after which it is
// continued as new. The server warns at 10,240 and ends it at 51,200.
const continueAfter = 4000

// long reports whether the history of the workflow has become long.
func (r *run) long() bool {
	info := workflow.GetInfo(r.ctx)
	limit := r.ContinueAfter
	if limit == 0 {
		limit = continueAfter
	}
	return info.GetCurrentHistoryLength() >= limit || info.GetContinueAsNewSuggested()
}

// mayContinue reports whether the run can be continued as new: nothing runs that could
// not be started again without harm. A step that only waits for something outside can.
func (r *run) mayContinue() bool {
	for _, f := range r.flights {
		if o := f.order; o.Kind != dag.OrderRun || !f.task.Node().NoSlot || f.stopped != "" {
			return false
		}
	}
	return len(r.in.Reports)+len(r.in.Answers)+len(r.answers)+len(r.grants) == 0 && r.admitted() && r.machine.Settled() && !r.in.Force
}

// continueAsNew ends this workflow and starts another one that continues the run.
func (r *run) continueAsNew() error {
	next := *r.input
	next.Carry = &Carry{Events: eventcode.Append(nil, r.input.Record.ID, r.events), Cancelled: r.in.Cancel, Claims: r.claims, Tokens: r.tokens}
	return workflow.NewContinueAsNewError(r.caller, WorkflowType, &next)
}
