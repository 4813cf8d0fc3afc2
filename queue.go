package flowrun

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// NoLineError says that a tool takes locks, or bounds how many runs of it there may be,
// and that the engine has no Store in which runs could know of each other.
type NoLineError struct {
	Tool  string
	Needs []Need
}

func (e *NoLineError) Error() string {
	var words []string
	for _, n := range e.Needs {
		words = append(words, n.Title())
	}
	return fmt.Sprintf("tool %s cannot run without a history: runs learn from it who has what they need (%s)", e.Tool, strings.Join(words, ", "))
}

// queue stands in line for what the run needs, where it needs anything.
func (j *job) queue(ctx context.Context) error {
	if len(j.needs) == 0 {
		return nil
	}
	d := Demand{Needs: j.needs}
	var last Queued
	if j.queued != nil {
		d.Tell = func(q Queued) {
			last = q
			j.queued(q)
		}
	}
	ctx, stop := j.untilReleased(ctx)
	defer stop()
	err := j.ledger.Admit(ctx, d)
	if err == nil && last.Run != "" {
		j.queued(Queued{Run: last.Run, Since: last.Since})
	}
	return err
}

// untilReleased is a context that ends when the run is let go as well: who stands in line
// then leaves it.
func (j *job) untilReleased(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-j.letGo.gently:
		case <-j.letGo.now:
		case <-ctx.Done():
		}
		cancel(dag.ErrReleased)
	}()
	return ctx, func() { cancel(nil) }
}

// withdraw ends a run that was cancelled while it stood in line: nothing of it has run,
// and nothing does any more, not even its cleanup, which could meet whoever has the
// locks. Any other reason to leave the line is the engine's failure.
func (j *job) withdraw(ctx context.Context, o dag.Options, why error) (*dag.State, error) {
	state := o.Carry
	if state == nil {
		state = dag.NewState(j.id, j.plan.graph, j.args)
	}
	if errors.Is(why, ErrFenced) || ctx.Err() == nil {
		return state, fmt.Errorf("cannot wait for the turn of run %s: %w", j.id, why)
	}
	now, seq, events := time.Now(), uint64(0), o.Opening
	if j.resumes() {
		seq = j.again.past.seq()
	} else {
		events = append([]dag.Event{{Kind: dag.RunStarted}}, events...)
	}
	events = append(events, dag.Event{Kind: dag.RunFinished, Reason: dag.ReasonCancelled,
		Result: &dag.Result{Status: dag.Cancelled, ExitCode: dag.ExitCancelled, Reason: dag.ReasonCancelled, Message: "cancelled while it stood in line",
			Started: now, Ended: now}})
	for i := range events {
		e := &events[i]
		seq++
		e.V, e.Seq, e.Run, e.Time = dag.EventVersion, seq, j.id, now
		state.Apply(*e)
	}
	ctx = context.WithoutCancel(ctx)
	err := o.Journal.Append(ctx, events)
	if err == nil {
		err = o.Journal.Sync(ctx)
	}
	if err != nil {
		return state, fmt.Errorf("cannot record the run's events: %w", err)
	}
	for _, e := range events {
		for _, s := range o.Sinks {
			s.Emit(e)
		}
	}
	return state, nil
}
