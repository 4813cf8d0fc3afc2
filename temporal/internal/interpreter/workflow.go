package interpreter

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/store/eventcode"
	"github.com/flowrun/flowrun/temporal/internal/queue"
)

// Workflow runs tools.
type Workflow struct {
	Compile func(*Input) (*engine.Plan, error) // depends on nothing but the input

	// Observers watch the runs whose workflow this worker executes.
	Observers []engine.Observer

	// ContinueAfter is the number of events in the history of the workflow after which it is
	// continued as new. 0 means 4000.
	ContinueAfter int
}

// run is one execution of the workflow.
type run struct {
	*Workflow
	input   *Input
	plan    *engine.Plan
	ctx     workflow.Context // never cancelled: cleanup runs after a cancel
	caller  workflow.Context // ends when somebody cancels the workflow
	machine *dag.Machine
	events  []dag.Event
	flights []*flight // in the order in which they started
	alarm   alarm
	asks    bool   // a step has asked something
	waits   string // what the memo says
	watch   watch

	demands []history.LockDemand // what the run takes at its start
	claims  []*Claim
	tokens  int           // the last that a claim got
	outbox  queue.Request // what the queue is to get at the end of the turn
	grants  []queue.Place // that have arrived

	in      dag.Input // for the next turn
	answers []history.Answer
	wakeup  bool
	err     error
}

// maxActivities is how many steps of a run are executed at once: the service allows 2,000
// activities of a workflow.
const maxActivities = 1000

// Run is the workflow.
func (w *Workflow) Run(ctx workflow.Context, in *Input) (*Output, error) {
	info := workflow.GetInfo(ctx)
	in = in.For(info.WorkflowExecution.ID, info.WorkflowStartTime)
	plan, err := w.Compile(in)
	if err != nil {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), "definition", nil)
	}
	r := &run{Workflow: w, input: in, plan: plan, caller: ctx, demands: plan.LockDemands()}
	r.ctx, _ = workflow.NewDisconnectedContext(ctx)
	o := dag.MachineOptions{ID: in.Record.ID, Parallel: min(in.Options.Parallel, maxActivities), Cleanup: in.Options.Cleanup, Judge: r.judge, Jitter: r.jitter,
		Acquire: engine.Queues(plan, in.Options.Pools)}
	if c := in.Carry; c != nil {
		if r.events, err = DecodeEvents(in.Record.ID, c.Events); err != nil {
			return nil, temporal.NewNonRetryableApplicationError(err.Error(), "events", nil)
		}
		o.Recorded, r.in.Cancel, r.asks = r.events, c.Cancelled, slices.ContainsFunc(r.events, asks)
		r.claims, r.tokens = c.Claims, c.Tokens
	}
	err = workflow.SetQueryHandlerWithOptions(ctx, EventsQuery, r.eventsAfter, workflow.QueryHandlerOptions{Description: "The events of the run after a number."})
	if err != nil {
		return nil, err
	}
	err = workflow.SetQueryHandlerWithOptions(ctx, InputQuery, r.withoutCarry, workflow.QueryHandlerOptions{Description: "What the run was started with."})
	if err != nil {
		return nil, err
	}
	if info.Memo.GetFields()[WaitsMemo] != nil {
		r.waits = "?" // from before it was continued as new
	}
	r.listen()
	defer r.watch.end() // also when the worker drops the workflow from its memory
	if ok, err := r.admit(); err != nil || !ok {
		return r.withdrawn(err)
	}
	if len(r.demands) > 0 && in.Carry == nil {
		o.Since = in.Record.Created
	}
	if err := r.readState(); err != nil {
		return r.endBefore(dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonNotStarted, Message: message(err)})
	}
	r.machine = dag.NewMachine(plan.Graph(), o)
	return r.loop()
}

// withdrawn ends a run that did not get what it takes at its start: because of an error, or of a cancel.
func (r *run) withdrawn(err error) (*Output, error) {
	if err != nil {
		return nil, temporal.NewNonRetryableApplicationError("cannot queue: "+message(err), "engine", nil)
	}
	return r.withdraw()
}

// loop takes turns until the run has ended.
func (r *run) loop() (*Output, error) {
	for {
		wake, err := r.turn()
		if err != nil {
			return nil, temporal.NewNonRetryableApplicationError("cannot continue: "+err.Error(), "engine", nil)
		}
		if res := r.machine.State().Result(); res != nil && len(r.flights) == 0 {
			return r.end(res)
		}
		if r.in.Hold = r.long(); r.in.Hold && r.mayContinue() {
			return nil, r.continueAsNew()
		}
		if err := r.wait(wake); err != nil {
			return nil, err
		}
		if ok, err := r.admit(); err != nil || !ok {
			return r.withdrawn(err)
		}
	}
}

// turn passes on what has happened, records what the machine decides, and acts.
func (r *run) turn() (wake time.Time, err error) {
	if r.err != nil {
		return wake, r.err
	}
	r.takeAnswers()
	r.takeGrants()
	r.in.Cancel = r.in.Cancel || r.caller.Err() != nil
	in := r.in
	r.in = dag.Input{Cancel: in.Cancel} // while the machine waits for a condition, more may happen
	t, err := r.machine.Turn(workflow.Now(r.ctx), in)
	if err = cmp.Or(err, r.err); err != nil {
		return wake, err
	}
	if err := r.keep(t.Events); err != nil {
		return wake, err
	}
	r.observe(t.Events)
	for _, e := range t.Events {
		r.events = append(r.events, e.Detached())
	}
	r.giveBack(t.Events)
	for _, task := range t.Tasks {
		r.start(task)
	}
	wake = queue.Sooner(t.Wake, r.stop())
	r.park()
	return wake, cmp.Or(r.send(), r.noteWaiting(t.Events))
}

// wait sleeps until there is a reason for another turn.
func (r *run) wait(wake time.Time) error {
	r.alarm.set(r, wake)
	cancelSeen := r.in.Cancel
	err := workflow.Await(r.ctx, func() bool {
		return r.wakeup || !cancelSeen && r.caller.Err() != nil
	})
	r.wakeup = false
	return err
}

// alarm is the one timer of a run: it wakes the run at the time that the machine names.
type alarm struct {
	at     time.Time
	cancel workflow.CancelFunc
}

func (a *alarm) set(r *run, wake time.Time) {
	if wake.IsZero() || !a.at.IsZero() && !wake.Before(a.at) {
		return
	}
	if !a.at.IsZero() {
		a.cancel()
	}
	ctx, cancel := workflow.WithCancel(r.ctx)
	a.at, a.cancel = wake, cancel
	timer := workflow.NewTimer(ctx, max(wake.Sub(workflow.Now(r.ctx)), time.Millisecond))
	workflow.Go(r.ctx, func(ctx workflow.Context) {
		if timer.Get(ctx, nil) == nil {
			a.at, r.wakeup = time.Time{}, true
		}
	})
}

// end returns the result of the run, which gives back what it holds.
func (r *run) end(res *dag.Result) (*Output, error) {
	if err := cmp.Or(r.giveAllBack(), r.forgetState()); err != nil {
		return nil, err
	}
	out := &Output{Status: res.Status.String(), ExitCode: res.ExitCode, Message: res.Message, Events: eventcode.Append(nil, r.input.Record.ID, r.events)}
	switch {
	case res.Status == dag.Succeeded:
		return out, nil
	case res.Status == dag.Cancelled && r.caller.Err() != nil:
		return nil, temporal.NewCanceledError(*out)
	}
	return nil, temporal.NewApplicationErrorWithOptions(out.Message, failedType, temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{*out}})
}

// eventsAfter answers EventsQuery.
func (r *run) eventsAfter(seq uint64) ([]byte, error) {
	for i, e := range r.events {
		if e.Seq > seq {
			return eventcode.Append(nil, r.input.Record.ID, r.events[i:]), nil
		}
	}
	return nil, nil
}

// withoutCarry answers InputQuery.
func (r *run) withoutCarry() (*Input, error) {
	in := *r.input
	in.Carry = nil
	return &in, nil
}

// judge evaluates a condition in a local activity.
func (r *run) judge(o *dag.Order) (bool, error) {
	ctx := workflow.WithLocalActivityOptions(r.ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: time.Minute, Summary: string(o.Kind) + " of " + string(o.Path)})
	var out dag.Outcome
	if err := workflow.ExecuteLocalActivity(ctx, ConditionActivity, r.input, o).Get(ctx, &out); err != nil {
		r.err = fmt.Errorf("cannot evaluate the condition of step %s: %s", o.Path, message(err))
		return false, err
	}
	if out.Result.Message != "" {
		return false, conditionError(out.Result.Message)
	}
	return out.Yes, nil
}

type conditionError string

func (e conditionError) Error() string { return string(e) }

// jitter draws a random part of a time between two attempts.
func (r *run) jitter(d time.Duration) (part time.Duration) {
	if workflow.SideEffect(r.ctx, func(workflow.Context) any { return rand.N(d + 1) }).Get(&part) != nil {
		return d
	}
	return part
}
