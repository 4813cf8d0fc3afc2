package serve

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
)

// withRemote calls f with the runs of another engine that the service shows, nil for none.
func withRemote(ctx context.Context, env *ui.Env, log *slog.Logger, f func(history.Store) error) error {
	if env.Engine == "" {
		return f(nil)
	}
	return env.Remote(ctx, func(s history.Store) error { return f(&remoteRuns{Store: s, log: log}) })
}

// remoteRuns are runs of another engine. While they cannot be listed, lists go on without them, and the log says why: the runs
// of this machine stay visible.
type remoteRuns struct {
	history.Store
	log *slog.Logger

	mu    sync.Mutex
	again time.Time // when they are listed again; before that they are not
}

// listAgainAfter is how long runs are not listed after a failure, so that no list waits again for a service that does not answer.
const listAgainAfter = 15 * time.Second

// Runs implements history.Store.
func (r *remoteRuns) Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error) {
	return listed(r, func() ([]history.RunInfo, error) { return r.Store.Runs(ctx, q) }), context.Cause(ctx)
}

// Queue implements history.Store.
func (r *remoteRuns) Queue(ctx context.Context) (history.Queue, error) {
	return listed(r, func() (history.Queue, error) { return r.Store.Queue(ctx) }), context.Cause(ctx)
}

// listed returns what read returns, or nothing if that failed now or shortly before.
func listed[L any](r *remoteRuns, read func() (L, error)) (list L) {
	r.mu.Lock()
	wait := time.Now().Before(r.again)
	r.mu.Unlock()
	if wait {
		return list
	}
	list, err := read()
	if err == nil {
		return list
	}
	r.mu.Lock()
	r.again = time.Now().Add(listAgainAfter)
	r.mu.Unlock()
	r.log.Warn("cannot list the runs on Temporal", "error", err.Error())
	var none L
	return none
}
