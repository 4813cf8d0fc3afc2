package command

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/runs"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
	"github.com/flowrun/flowrun/temporal/internal/remote"
)

// follower follows a run to its end, or until it only waits for answers.
type follower struct {
	env     *ui.Env
	link    *link
	flow    client.WorkflowRun
	input   *interpreter.Input
	plan    *engine.Plan
	sinks   []dag.Sink
	signals *ui.Signals
	force   <-chan struct{}

	events    []dag.Event
	state     *dag.State
	queued    func(history.QueuePosition)      // reports what the run and its steps wait for
	positions map[string]history.QueuePosition // what was reported, by step
	waits     map[string]remote.PoolWait       // what was reported, by pool
	failing   bool                             // it was reported why the workers cannot continue the run
}

// How often a run is asked for new events, and how long its workers have to end it after it was stopped at once.
const (
	firstPoll = 100 * time.Millisecond
	lastPoll  = time.Second
	stopWait  = 10 * time.Second
)

// run passes on events until the run has ended, and returns its result. When ctx ends, it cancels the run, and waits for its
// end only after Ctrl-C: other signals end this program.
func (w *follower) run(ctx context.Context) (*runresult.Result, error) {
	w.state = dag.NewState(w.input.Record.ID, w.plan.Graph(), nil)
	done := make(chan error, 1)
	var out interpreter.Output
	lasting := context.WithoutCancel(ctx)
	go func() { done <- w.flow.Get(lasting, &out) }()
	cancelled, force := ctx.Done(), w.force
	var giveUp <-chan time.Time
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		select {
		case err := <-done:
			ended, err := interpreter.OutputOf(&out, err)
			if err != nil {
				return nil, ui.ServiceErrorf("the run has no result: %w", err)
			}
			return w.ended(lasting, ended)
		case <-cancelled:
			cancelled, pause = nil, firstPoll
			if err := w.link.CancelWorkflow(lasting, w.flow.GetID(), ""); err != nil {
				return nil, ui.ServiceErrorf("cannot cancel the run: %w", err)
			}
			if code := w.signals.Code(); code != ui.SignalCode(os.Interrupt) {
				return nil, w.leave(code)
			}
		case <-force:
			force, pause = nil, firstPoll
			if err := w.link.SignalWorkflow(lasting, w.flow.GetID(), "", interpreter.ForceSignal, struct{}{}); err != nil {
				return nil, ui.ServiceErrorf("cannot stop the run: %w", err)
			}
			giveUp = time.After(stopWait)
		case <-giveUp:
			return nil, w.leave(w.signals.Code())
		case <-time.After(pause):
			more, err := w.poll(lasting)
			if more {
				pause = firstPoll
			}
			w.reportWaits(lasting, pause)
			if err != nil {
				w.reportFailing(lasting)
			}
			if err == nil && interpreter.OnlyAnswersLeft(w.input.Record.ID, w.plan, w.state) {
				return w.waiting(lasting)
			}
		}
	}
}

// leave leaves the run to its workers, which were asked to stop it.
func (w *follower) leave(code int) error {
	id := w.flow.GetID()
	w.env.Notef("run %s was asked to stop, and its workers end it; to see it: flowrun-temporal show %s", id, id)
	return ui.CodeError(code)
}

// reportFailing reports once why the workers cannot continue the run. To ask again and again would read its whole history
// each time.
func (w *follower) reportFailing(ctx context.Context) {
	if w.failing {
		return
	}
	reason, err := remote.Failing(ctx, w.link.Client, w.flow.GetID())
	if err == nil && reason != "" {
		w.failing = true
		w.env.Notef("the workers cannot continue the run: %s", reason)
	}
}

// reportWaits reports what steps, and the run, wait for, when the run has had no events for some time.
func (w *follower) reportWaits(ctx context.Context, pause time.Duration) {
	if len(w.plan.LockDemands())+len(w.plan.StepDemands()) == 0 || pause < lastPoll && len(w.positions) == 0 {
		return
	}
	w.reportPositions(ctx)
	if pause >= lastPoll {
		w.reportPools(ctx)
	}
}

// reportPositions reports the positions of the run and of its steps in the queue that have changed.
func (w *follower) reportPositions(ctx context.Context) {
	list, err := remote.Positions(ctx, w.link.Client, w.link.queue, w.flow.GetID())
	if err != nil {
		return // the run continues without this program
	}
	now := map[string]history.QueuePosition{}
	for _, q := range list {
		now[q.Step] = q
		if before, known := w.positions[q.Step]; !known || !before.Equal(q) {
			w.queued(q)
		}
	}
	for _, step := range slices.Sorted(maps.Keys(w.positions)) {
		if _, waits := now[step]; !waits {
			w.queued(history.QueuePosition{Run: w.flow.GetID(), Step: step, Since: w.positions[step].Since})
		}
	}
	w.positions = now
}

// reportPools reports the pools of workers for which steps wait.
func (w *follower) reportPools(ctx context.Context) {
	list, err := remote.PoolWaits(ctx, w.link.Client, w.flow.GetID())
	if err != nil {
		return // the run continues without this program
	}
	now := map[string]remote.PoolWait{}
	for _, x := range list {
		now[x.Pool] = x
		if before, known := w.waits[x.Pool]; known && before.Served == x.Served {
			continue
		}
		w.queued(history.QueuePosition{Run: w.flow.GetID(), Step: x.Step, Since: time.Now(),
			Obstacles: []history.Obstacle{{LockDemand: history.LockDemand{Kind: history.DemandPool, Name: x.Pool}}}})
		if !x.Served {
			w.env.Notef("%s", x)
		}
	}
	w.waits = now
}

// poll passes on new events. An error is not final: the run continues without this program.
func (w *follower) poll(ctx context.Context) (more bool, err error) {
	after := uint64(len(w.events))
	r, err := w.link.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{WorkflowID: w.flow.GetID(), QueryType: interpreter.EventsQuery, Args: []any{after},
		QueryRejectCondition: enums.QUERY_REJECT_CONDITION_NOT_OPEN})
	if err != nil || r.QueryResult == nil {
		return false, err
	}
	var text []byte
	if err := r.QueryResult.Get(&text); err != nil {
		return false, err
	}
	events, err := interpreter.DecodeEvents(w.input.Record.ID, text)
	w.pass(events)
	return len(events) > 0, err
}

// pass adds events that are new.
func (w *follower) pass(events []dag.Event) {
	for _, e := range events {
		if e.Seq <= uint64(len(w.events)) {
			continue
		}
		w.events = append(w.events, e)
		w.state.Apply(e)
		for _, s := range w.sinks {
			s.Emit(e)
		}
	}
}

// ended returns the result of a run that has ended.
func (w *follower) ended(ctx context.Context, out *interpreter.Output) (*runresult.Result, error) {
	events, err := interpreter.DecodeEvents(w.input.Record.ID, out.Events)
	if err != nil {
		return nil, err
	}
	w.pass(events)
	return w.result(ctx)
}

// waiting returns the result of a run that waits for answers.
func (w *follower) waiting(ctx context.Context) (*runresult.Result, error) {
	res, err := w.result(ctx)
	if err == nil {
		res.Status = dag.Waiting
		res.Message = w.plan.WaitsFor(w.input.Record.ID, w.state)
	}
	return res, err
}

// result returns the result of the run as a local history would give it.
func (w *follower) result(ctx context.Context) (*runresult.Result, error) {
	var lost error // who reads the output of this command expects all of it
	for i := range w.events {
		remote.FetchStreams(ctx, w.link.texts, &w.events[i], func(err error) { lost = errors.Join(lost, err) })
	}
	if lost != nil {
		return nil, lost
	}
	r, err := w.input.Load(ctx, w.env.Library(), w.events)
	if err != nil {
		return nil, err
	}
	return r.Result(), nil
}

// printOutput writes the output of the run, whatever its size.
func (w *follower) printOutput(to io.Writer) error {
	r := w.state.Result()
	if r == nil || r.Stdout == nil {
		return nil
	}
	if err := runs.PrintStream(to, r.Stdout.File, r.Stdout.Inline); err != nil || !r.Structured {
		return err
	}
	_, err := io.WriteString(to, "\n")
	return err
}
