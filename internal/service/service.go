// Package service runs tools on behalf of others: on schedules, for callers over the
// network, and for people who hand a run over to it.
//
// # The model
//
// A [Service] is one process that works in a state directory. The state of a run is in the
// Store and nowhere else: the service can be killed at any moment, and the next service
// finds everything there. Several services may use one directory.
//
// A service consists of parts, and entry points ask the part that they need:
//
//   - [Starter] starts runs, and [Control] continues, answers and cancels them. Both give the
//     runs to the executor of package executor, which executes them in this process.
//   - A run that a service starts has an origin, which is recorded. Such a run belongs to the
//     services: when its owner ends or releases it, the next service that polls the Store resumes
//     it (adopter), and the Store admits only one. In the same way services begin the next attempts
//     of runs that are retried automatically (retrier). A run that cannot be resumed is left to people
//     ([Parking]). A run without an origin was started by a person, and only a person resumes it.
//   - The definitions are a catalog.Catalog. Runs are read from the Store, with their definitions
//     from a recorded.Runs.
//   - Events of runs, of this service and of other processes (follower), reach subscribers through
//     a feed.Feed.
package service

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service/catalog"
	"github.com/flowrun/flowrun/internal/service/executor"
	"github.com/flowrun/flowrun/internal/service/feed"
	"github.com/flowrun/flowrun/internal/service/recorded"
	"github.com/flowrun/flowrun/internal/store/joined"
	"github.com/flowrun/flowrun/library"
)

// Config configures a Service. Engine, Store and Library are required.
type Config struct {
	Engine *engine.Engine // records its runs in Store
	Store  history.Store
	// Remote are the runs of another engine, which executes them: they are shown, answered and cancelled like those of Store.
	// Default: there are none.
	Remote history.Store
	// Library returns a Library of the available definitions. It is called repeatedly,
	// because folders appear and disappear.
	Library func() *library.Library
	// Decide decides which tools may run. Default: every tool may.
	Decide Policy
	// Trusts reports whether the user trusts a project, so that callers may change its
	// definitions. Default: no project is trusted.
	Trusts func(project string) bool
	// Trace is the trace of the service's process. Runs whose caller has no trace are part
	// of it.
	Trace history.TraceContext
	// Ended is called for every run that has ended or started to wait in this service. It
	// may block, and should return when ctx ends. Default: nothing is called.
	Ended func(ctx context.Context, e executor.Ended)
	// NotStarted is called for every run that could not start and was recorded as failed.
	// As with Ended, it may block. Default: nothing is called.
	NotStarted func(ctx context.Context, u NotStarted)
	// CutOff is called for every run of a service that was interrupted and not released: its process was killed. It is called by
	// each service that finds the run so, also again. Default: nothing is called.
	CutOff func(ctx context.Context, run history.RunInfo)
	// IsTransient reports whether an error that kept a run from starting is not the
	// fault of the run and may pass. Such a run is not recorded as failed. Default: no
	// error is transient.
	IsTransient func(error) bool
	// MayRetry reports whether a run with that origin may be retried automatically now. If not, it is asked again at the
	// next poll. Default: it may.
	MayRetry func(ctx context.Context, origin string) (bool, error)
	// Waited is called with the time that a run spent in the queue. Default: nothing is
	// called.
	Waited func(time.Duration)
	// Changes returns a number that changes when another process has written to the Store.
	// It is called several times a second. Default: the Store itself is polled.
	Changes func() (int64, error)
	// Writable returns the reason why nothing can be recorded now. Default: recording
	// always works.
	Writable func(context.Context) error
	// Served are patterns of the built-in and discovered tools that are offered in addition
	// to those in files.
	Served []string
	Home   string       // working directory of tools that belong to no project; default: the user's home
	Log    *slog.Logger // default: nothing is logged
}

// Service is the running parts of a service, for its entry points. Safe for concurrent use.
type Service struct {
	Starter *Starter         // starts runs
	Control *Control         // continues, answers and cancels runs
	History history.Store    // what is recorded of runs
	Runs    *recorded.Runs   // recorded runs with their definitions
	Feed    *feed.Feed       // events of all runs, as they happen
	Tools   *catalog.Catalog // definitions that are available
	Editor  *catalog.Editor  // changes definitions
	Policy  Policy           // which tools may run
	Parked  *Parking         // interrupted runs that are left to people

	executor *executor.Executor
	follower *follower
	probe    probe
	pollers  sync.WaitGroup
	quit     chan struct{} // closed when the polling goroutines must end
}

// New creates a Service and starts it. Errors are those of the Store.
func New(ctx context.Context, c Config) (*Service, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	shown := c.Store
	if c.Remote != nil {
		shown = joined.New(c.Store, c.Remote)
	}
	s := &Service{History: shown, Feed: feed.New(time.Now()), Tools: catalog.New(c.Library, c.Served, c.Log), Policy: c.Decide,
		Parked: &Parking{runs: map[string]parkedRun{}}, probe: probe{check: c.Writable}, quit: make(chan struct{})}
	s.Editor, s.Runs = catalog.NewEditor(s.Tools, c.Trusts), recorded.New(shown, s.Tools)
	s.executor = executor.New(executor.Config{Feed: s.Feed, Log: c.Log, Trace: c.Trace, Ended: c.Ended, Waited: c.Waited})
	s.Starter = &Starter{engine: c.Engine, store: c.Store, catalog: s.Tools, policy: s.Policy, executor: s.executor, feed: s.Feed,
		trace: c.Trace, home: c.Home, isTransient: c.IsTransient, notStarted: c.NotStarted, log: c.Log}
	s.Control = &Control{engine: c.Engine, store: shown, catalog: s.Tools, policy: s.Policy, executor: s.executor, feed: s.Feed,
		runs: s.Runs, started: time.Now()}
	s.follower = &follower{store: c.Store, readChanges: c.Changes, feed: s.Feed, runs: s.Runs, executor: s.executor,
		adopter: &adopter{control: s.Control, engine: c.Engine, executor: s.executor, parked: s.Parked, cutOff: c.CutOff, log: c.Log, work: &s.pollers},
		retrier: &retrier{control: s.Control, starter: s.Starter, may: c.MayRetry, log: c.Log}}
	if err := s.follower.begin(ctx); err != nil {
		return nil, err
	}
	s.Tools.Refresh()
	s.pollers.Go(func() { s.follower.follow(s.quit) })
	s.pollers.Go(func() { s.Tools.Follow(s.quit) })
	return s, nil
}

// Version returns a number that grows when a run of the state directory starts, ends, or changes its status, its owner or the
// reason for which it is left to people: up to two seconds later.
func (s *Service) Version() uint64 { return s.follower.version.Load() }

// Drain stops the service. It starts no further runs and closes the channels of all subscribers.
// Running steps have the time wait to end; after that, or when hurry is closed, they are stopped.
// If hurry is closed, they get no grace period. Runs that have not ended by then are released, and
// the next service resumes them. Drain returns when this process executes no run any more, and
// reports how many runs it released. It must be called only once.
func (s *Service) Drain(wait time.Duration, hurry <-chan struct{}) (left int) {
	left = s.executor.Drain(wait, hurry)
	close(s.quit)
	s.pollers.Wait()
	return left
}
