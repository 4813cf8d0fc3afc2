package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
)

const (
	// maxRetryDelay is how late the next attempt of a run may begin, because no service was running or because it was
	// not its turn.
	maxRetryDelay = 24 * time.Hour
	// retryAgainDelay is the delay before the service tries again to begin an attempt, if what kept it from beginning
	// may pass.
	retryAgainDelay = time.Minute
)

// retrier begins the next attempts of runs that are retried automatically (retry-run): of the runs of the services. Those
// of people belong to the process that they have started. The Store lets each attempt begin once, whichever service is
// first. Only the follower's goroutine calls it.
type retrier struct {
	control *Control
	starter *Starter
	may     func(ctx context.Context, origin string) (bool, error) // Config.MayRetry
	log     *slog.Logger
	later   map[string]time.Time // when to try again, by the run that is retried
}

// RetriedByServices reports whether services retry a run that is retried automatically.
func RetriedByServices(origin string) bool { return origin != "" && !engine.CalledByModel(origin) }

// beginDue begins the attempts that are due, the oldest first.
func (r *retrier) beginDue(ctx context.Context, now time.Time) {
	due, err := r.control.store.Runs(ctx, history.Query{RetryDue: now})
	if err != nil {
		return // the next poll reads it again
	}
	waiting := map[string]time.Time{}
	for i := len(due) - 1; i >= 0; i-- {
		info := due[i]
		if !RetriedByServices(info.Origin) {
			continue
		}
		if at, known := r.later[info.ID]; known && now.Before(at) {
			waiting[info.ID] = at
			continue
		}
		if !r.begin(ctx, info, now) {
			waiting[info.ID] = now.Add(retryAgainDelay)
		}
	}
	r.later = waiting
}

// begin begins an attempt. If it can never begin, a run that has failed is recorded in its place. settled is false if
// it is attempted again later.
func (r *retrier) begin(ctx context.Context, info history.RunInfo, now time.Time) (settled bool) {
	err := r.attempt(ctx, info, now)
	switch {
	case err == nil, errors.Is(err, errNotItsTurn), errors.Is(err, outcome.ErrDraining):
	case errors.Is(err, history.ErrRetried), errors.Is(err, history.ErrNoRun):
		// Another service was faster, or somebody has decided otherwise.
	case errors.Is(err, history.ErrLive), errors.Is(err, context.Canceled), r.starter.isTransient != nil && r.starter.isTransient(err):
		r.log.Warn("cannot retry a run now", "run", info.ID, "tool", info.Tool, "error", Loggable(err))
		return false
	default:
		r.fail(ctx, info, err)
		return false // if even that cannot be recorded
	}
	return true
}

// errNotItsTurn is the reason why an attempt waits.
var errNotItsTurn = errors.New("another run of its schedule is active, or the schedule is paused")

// attempt begins the next attempt of a run.
func (r *retrier) attempt(ctx context.Context, info history.RunInfo, now time.Time) error {
	if now.Sub(info.RetryAt) > maxRetryDelay {
		return fmt.Errorf("this attempt was due at %s and could not begin within %v", info.RetryAt.Format(time.RFC3339), maxRetryDelay)
	}
	if r.may != nil {
		if yes, err := r.may(ctx, info.Origin); err != nil || !yes {
			return cmp.Or(err, errNotItsTurn)
		}
	}
	return r.control.nextAttempt(ctx, info.ID)
}

// fail records that an attempt could not begin.
func (r *retrier) fail(ctx context.Context, info history.RunInfo, why error) {
	old, err := r.control.store.Record(ctx, info.ID)
	if err != nil {
		return // it was removed
	}
	r.starter.Failed(ctx, Request{Tool: info.Tool, Labels: info.Labels, Origin: info.Origin, Unlisted: true, attemptOf: old}, why)
}

// nextAttempt begins the next attempt of a run.
func (c *Control) nextAttempt(ctx context.Context, id string) error {
	past, err := c.runs.Load(ctx, id)
	if err != nil {
		return err
	}
	g, err := past.NextAttempt(c.catalog.Library())
	if err != nil {
		return err
	}
	if err := c.executor.AwaitRelease(ctx, id, maxAnswerPoll); err != nil {
		return err
	}
	_, err = c.launchRetry(ctx, past, g, past.Record.Origin, "started as the next attempt of run "+id)
	return err
}
