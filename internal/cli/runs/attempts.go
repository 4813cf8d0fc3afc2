package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/service"
)

// stillRetriedEvery is how often the command checks, while it waits for the next attempt, that nobody has retried or
// cancelled the run elsewhere.
const stillRetriedEvery = time.Second

// runAttempts executes the run and the attempts that follow it automatically (retry-run). It waits for each of them: a run
// that a person has started belongs to this process, and one of a service to the services.
func (x *execution) runAttempts() error {
	for {
		err := x.run()
		if x.retried == nil {
			return err
		}
		if x.resumed != nil && service.RetriedByServices(x.resumed.Record.Origin) {
			x.say("%s; a service begins it (flowrun serve)", runview.RetryNote(x.retried, x.plan))
			return cmp.Or(PrintResult(x.env, x.retried, x.flags.output), err)
		}
		next, stopped := x.awaitAttempt()
		if next == nil { // so this was the last one
			x.retried.RetryAt = time.Time{}
			return cmp.Or(stopped, PrintResult(x.env, x.retried, x.flags.output), err)
		}
		x = next
	}
}

// say prints a line about the next attempt.
func (x *execution) say(format string, args ...any) {
	if ui.Verbose(x.flags.Progress) || x.flags.Progress == "quiet" {
		x.env.Notef(format, args...)
	}
}

// awaitAttempt waits until the next attempt is due, and returns it. It returns nil if there is none: with an error if a
// signal has ended the waiting, or if the attempt cannot begin.
func (x *execution) awaitAttempt() (*execution, error) {
	id := x.retried.ID
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	signals := x.env.Signals(stop)
	defer signals.Stop()
	x.say("%s", runview.RetryNote(x.retried, x.plan))
	due := time.NewTimer(time.Until(x.retried.RetryAt))
	defer due.Stop()
	check := time.NewTicker(stillRetriedEvery)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			if err := x.store.Cancel(context.WithoutCancel(ctx), id, "nobody waits for its next attempt"); err != nil {
				return nil, err
			}
			x.say("run %s is not retried; to retry it: flowrun retry %s", id, id)
			return nil, ui.CodeError(signals.Code())
		case <-check.C:
			if info, err := x.store.Info(ctx, id); err == nil && info.RetryAt.IsZero() {
				return nil, x.retriedElsewhere()
			}
		case <-due.C:
			next, err := x.nextAttempt(ctx)
			switch {
			case errors.Is(err, history.ErrRetried):
				return nil, x.retriedElsewhere()
			case err != nil:
				return nil, x.giveUp(ctx, err)
			}
			return next, nil
		}
	}
}

// retriedElsewhere reports that no attempt follows here. It returns nil.
func (x *execution) retriedElsewhere() error {
	x.say("run %s was retried, resumed or cancelled elsewhere", x.retried.ID)
	return nil
}

// nextAttempt returns the next attempt of the run.
func (x *execution) nextAttempt(ctx context.Context) (*execution, error) {
	recorded, err := engine.LoadRun(ctx, x.store, x.env.Library(), x.retried.ID)
	if err != nil {
		return nil, err
	}
	g, err := recorded.NextAttempt(x.env.Library())
	if err != nil {
		return nil, err
	}
	f := x.flags
	f.ID, f.dir = "", recorded.Record.RunEnv.Workspace
	if ui.Verbose(f.Progress) {
		describePlan(x.env, g, recorded, f)
	}
	return &execution{env: x.env, flags: f, plan: g.Plan(), store: x.store, start: func(ctx context.Context, e *engine.Engine, o ...engine.RunOption) (*runresult.Result, error) {
		return e.Continue(ctx, g, o...)
	}}, nil
}

// giveUp reports that the next attempt cannot begin: the failure of the run is final then.
func (x *execution) giveUp(ctx context.Context, why error) error {
	res := x.retried
	err := x.store.Cancel(ctx, res.ID, "its next attempt cannot begin")
	res.RetryAt = time.Time{}
	x.notify(res, nil)
	return errors.Join(fmt.Errorf("cannot retry run %s: %w", res.ID, why), err)
}
