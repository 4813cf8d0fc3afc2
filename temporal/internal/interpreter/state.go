package interpreter

import (
	"context"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/keptstate"
	"github.com/flowrun/flowrun/temporal/internal/values"
)

// readState reads the state of the run's tool, so that it is that of the moment when the run has its locks. An error is
// why it cannot be read.
func (r *run) readState() error {
	if !engine.KeepsState(r.plan) || r.input.Carry != nil {
		return nil
	}
	ctx := workflow.WithLocalActivityOptions(r.ctx, workflow.LocalActivityOptions{StartToCloseTimeout: stateTimeout, Summary: "read the state"})
	return workflow.ExecuteLocalActivity(ctx, ReadActivity, r.input).Get(ctx, nil)
}

// stateTimeout limits one attempt to read or commit values, which a worker answers.
const stateTimeout = time.Minute

// keep commits the values that events set. If they are refused, the events say so.
func (r *run) keep(events []dag.Event) error {
	if !engine.KeepsState(r.plan) {
		return nil
	}
	before := make([]*dag.Result, len(events))
	for i := range events {
		before[i] = events[i].Result
	}
	if err := (keptstate.Journal{Journal: committer{r}}).Append(context.Background(), events); err != nil {
		return err
	}
	for i := range events {
		if e := &events[i]; e.Result != before[i] {
			r.machine.Replace(before[i], e)
		}
	}
	return nil
}

// committer is the journal of a run, for the values that its events set.
type committer struct{ r *run }

// Append implements dag.Journal. The number of the first event identifies the commit if it is repeated.
func (c committer) Append(_ context.Context, events []dag.Event) error {
	changes := history.StateChanges(events)
	if len(changes) == 0 {
		return nil
	}
	var reply values.Reply
	ctx := workflow.WithLocalActivityOptions(c.r.ctx, workflow.LocalActivityOptions{StartToCloseTimeout: stateTimeout, Summary: "keep the state"})
	request := values.Request{Run: c.r.input.Record.ID, Changes: changes, Event: events[0].Seq}
	err := workflow.ExecuteLocalActivity(ctx, values.RequestActivity, request).Get(ctx, &reply)
	if err == nil && reply.Refused != nil {
		return reply.Refused
	}
	return err
}

// Sync implements dag.Journal.
func (committer) Sync(context.Context) error { return nil }

// forgetState says that the run has ended, so that what it has read is forgotten.
func (r *run) forgetState() error {
	if !engine.KeepsState(r.plan) || r.machine == nil {
		return nil
	}
	ctx := workflow.WithLocalActivityOptions(r.ctx, workflow.LocalActivityOptions{StartToCloseTimeout: stateTimeout, Summary: "the run has ended"})
	return workflow.ExecuteLocalActivity(ctx, values.EndActivity, r.input.Record.ID).Get(ctx, nil)
}
