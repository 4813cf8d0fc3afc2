package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// queue waits in the queue for the locks that the run needs; it does nothing for a run without locks. An earlier run
// that held the locks may have been killed, so queue then ends the processes that killed programs left running.
func (e *Engine) queue(ctx context.Context, j *job) error {
	if len(j.lockDemands) == 0 {
		return nil
	}
	if err := j.admit(ctx); err != nil {
		return err
	}
	return e.sweep(ctx)
}

// admit blocks until the run is admitted, and reports each change of its queue position to WithQueue.
func (j *job) admit(ctx context.Context) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	ctx, stop := j.release.watch(ctx)
	defer stop()
	var last history.QueuePosition
	err := j.place.Admit(ctx, history.Admission{Demands: j.lockDemands, Notify: func(q history.QueuePosition) {
		last = q
		if outer := j.args.RunEnv.Vars[procid.MarkRun]; heldBy(q, outer) {
			giveUp(fmt.Errorf("it would wait forever: a step of run %s started it, and that run holds what it waits for (%s); use the tool with use-tool instead", outer, q.Obstacles[0].Title()))
			return
		}
		if j.queued != nil {
			j.queued(q)
		}
	}})
	if err == nil && last.Run != "" && j.queued != nil {
		j.queued(history.QueuePosition{Run: last.Run, Since: last.Since})
	}
	return err
}

// heldBy reports whether the given run holds a lock that this one waits for.
func heldBy(q history.QueuePosition, run string) bool {
	return run != "" && slices.ContainsFunc(q.Obstacles, func(o history.Obstacle) bool {
		return slices.ContainsFunc(o.Holders, func(h history.Holder) bool { return h.Run == run })
	})
}

// watch returns a context that ends with dag.ErrReleased when either channel closes. The caller must call the
// returned function, which waits for the goroutine.
func (l releaseChannels) watch(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-l.gently:
			cancel(dag.ErrReleased)
		case <-l.now:
			cancel(dag.ErrReleased)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-over
	}
}

// withdraw handles a run that did not get past the queue, because of why. A cancelled run ends: none of its steps
// runs, not even its cleanup, which could get in the way of the run that holds the locks. A released run stays as it
// is, so that another owner can queue it again. Any other reason is an error of the engine.
func (j *job) withdraw(ctx context.Context, o dag.Options, why error) (*dag.State, error) {
	released := errors.Is(why, dag.ErrReleased)
	switch {
	case errors.Is(why, history.ErrFenced), !released && ctx.Err() == nil:
		return j.stateBefore(o), fmt.Errorf("cannot queue run %s: %w", j.id, why)
	case released && (j.resumes() || len(o.Opening) == 0):
		return j.stateBefore(o), dag.ErrReleased
	case !released:
		return j.endBefore(ctx, o, &dag.Result{Status: dag.Cancelled, ExitCode: dag.ExitCancelled, Reason: dag.ReasonCancelled, Message: "cancelled while it was queued"})
	}
	state, err := j.endBefore(ctx, o, nil)
	return state, cmp.Or(err, dag.ErrReleased)
}

// refuse handles a run that cannot read what it needs. A new run has failed, and no step ran. A resumed one stays as it
// is, so that it can be resumed once that is repaired.
func (j *job) refuse(ctx context.Context, o dag.Options, why error) (*dag.State, error) {
	if j.resumes() || ctx.Err() != nil {
		return j.stateBefore(o), why
	}
	return j.endBefore(ctx, o, &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonNotStarted, Message: why.Error()})
}

// stateBefore returns the state of a run before this engine has started any of its steps.
func (j *job) stateBefore(o dag.Options) *dag.State {
	if o.Carry != nil {
		return o.Carry
	}
	return dag.NewState(j.id, j.plan.Graph, j.args)
}

// endBefore records what the run was to begin with, and its end without any step. Without a result it does not end.
func (j *job) endBefore(ctx context.Context, o dag.Options, res *dag.Result) (*dag.State, error) {
	var events []dag.Event
	if !j.resumes() {
		events = append(events, dag.Event{Kind: dag.RunStarted})
	}
	events = append(events, o.Opening...)
	now := time.Now()
	if res != nil {
		res.Started, res.Ended = j.startedAt(), now
		events = append(events, dag.Event{Kind: dag.RunFinished, Reason: res.Reason, Result: res})
	}
	state := j.stateBefore(o)
	return state, j.recordEvents(ctx, o, state, events, now)
}

// recordEvents appends events that do not come from walking the graph: it numbers them, records them,
// applies them to state, and sends them to the sinks.
func (j *job) recordEvents(ctx context.Context, o dag.Options, state *dag.State, events []dag.Event, now time.Time) error {
	seq := uint64(0)
	if j.resumes() {
		seq = j.continuation.recorded.seq()
	}
	for i := range events {
		e := &events[i]
		seq++
		e.V, e.Seq, e.Run, e.Time = dag.EventVersion, seq, j.id, now
		if e.Kind == dag.RunStarted || e.Kind == dag.RunResumed {
			e.Queued = dag.Span(o.Since, now)
		}
	}
	ctx = context.WithoutCancel(ctx)
	err := o.Journal.Append(ctx, events)
	if err == nil {
		err = o.Journal.Sync(ctx)
	}
	if err != nil {
		return fmt.Errorf("cannot record the run's events: %w", err)
	}
	for _, e := range events {
		state.Apply(e)
		for _, s := range o.Sinks {
			s.Emit(e)
		}
	}
	return nil
}

// sweepGrace is how long processes left by killed programs may take to end before the first run of an Engine
// starts. When their own runs are resumed, they get the Engine's grace period, which is longer.
const sweepGrace = time.Second

// sweepOnce removes, once in the life of the Engine, what killed programs with the same StateDir left behind:
// processes, and temporary files that hold values. The files are removed while the run does other things; wait returns
// when that is done. A failure does not keep a run from starting: it is reported when the killed run is resumed, and by
// a run that takes the same locks (see queue).
func (e *Engine) sweepOnce(ctx context.Context) (wait func()) {
	e.swept.Do(func() {
		_, _ = proc.Sweep(ctx, e.domain, sweepGrace)
		e.sweeping.Go(func() { _ = rundir.SweepAbandoned(e.domain) })
	})
	return e.sweeping.Wait
}

// EndLeftovers ends the processes that killed programs with the StateDir of this one have left, and removes their temporary
// files that hold values. A program does so before its first run; one that runs for long calls it again when a run of
// another program is interrupted. It ends nothing of a living program.
func (e *Engine) EndLeftovers(ctx context.Context) error {
	return errors.Join(e.sweep(ctx), rundir.SweepAbandoned(e.domain))
}

// sweep ends the processes that killed programs have left. The error names those that could not be stopped.
func (e *Engine) sweep(ctx context.Context) error {
	report, err := proc.Sweep(ctx, e.domain, e.grace())
	if err == nil && len(report.Escaped) > 0 {
		err = fmt.Errorf("cannot stop processes of a run that was killed: %s; stop them yourself, because that run may have held locks", proc.Names(report.Escaped))
	}
	return err
}

// lockDemandsOf returns the locks that a run of the plan takes at its start.
func lockDemandsOf(p *plan.Plan) []history.LockDemand {
	var list []history.LockDemand
	if d := p.Definition; d.MaxActiveRuns > 0 {
		name := d.Name
		if n := len(d.AliasOf); n > 0 { // an alias counts as its base tool
			name = d.AliasOf[n-1]
		}
		list = append(list, history.LockDemand{Kind: history.DemandActiveRun, Name: name, File: d.File, Slots: d.MaxActiveRuns})
	}
	for _, t := range p.Tools() {
		for _, l := range t.Definition.Locks {
			n := history.LockDemand{Kind: history.DemandLock, Name: l.Name.S, Slots: max(l.Slots, 1)}
			if i := slices.IndexFunc(list, n.Same); i >= 0 {
				list[i].Slots = min(list[i].Slots, n.Slots)
			} else {
				list = append(list, n)
			}
		}
	}
	return list
}
