// Package service runs tools on behalf of others: on schedules, for callers over the
// network, and for people who hand a run over to it.
//
// # The model
//
// A [Service] is one process that works in a state directory. The state of a run is in the
// Store and nowhere else: the service can be killed at any moment, and the next service
// finds everything there. Several services may use one directory.
//
// A run that a service starts has an origin, which is recorded. Such a run belongs to the
// services: when its owner ends or releases it, the next service that polls the Store resumes
// it, and the Store admits only one (adopt.go). A run without an origin was started by a
// person, and only a person resumes it.
//
// Definitions are read when they change, not when they are requested (plan_cache.go). If a
// definition becomes invalid, its last valid version stays in use. A run keeps the version
// that it started with.
//
// Events of runs, of this service and of other processes, reach subscribers as one numbered
// sequence of updates (package feed, follow.go).
//
// A service that stops ends no run: running steps have some time to end, and then the runs
// are released (drain.go).
package service

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/service/feed"
	"github.com/flowrun/flowrun/internal/service/recorded"
	"github.com/flowrun/flowrun/library"
)

// Config configures a Service. Engine, Store and Library are required.
type Config struct {
	Engine *engine.Engine // records its runs in Store
	Store  history.Store
	// Library returns a Library of the available definitions. It is called repeatedly,
	// because folders appear and disappear.
	Library func() *library.Library
	// Decide returns the reason why a tool may not run, nil if it may. Default: every tool
	// may run.
	Decide func(*engine.Plan) error
	// Trusts reports whether the user trusts a project, so that callers may change its
	// definitions. Default: no project is trusted.
	Trusts func(project string) bool
	// Trace is the trace of the service's process. Runs whose caller has no trace are part
	// of it.
	Trace history.TraceContext
	// Ended is called for every run that has ended or started to wait in this service. It
	// may block, and should return when ctx ends. Default: nothing is called.
	Ended func(ctx context.Context, e Ended)
	// NotStarted is called for every run that could not start and was recorded as failed.
	// As with Ended, it may block. Default: nothing is called.
	NotStarted func(ctx context.Context, u NotStarted)
	// IsTransient reports whether an error that kept a run from starting is not the
	// fault of the run and may pass. Such a run is not recorded as failed. Default: no
	// error is transient.
	IsTransient func(error) bool
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

// Ended describes a run that ended, started to wait, or stopped with an error.
type Ended struct {
	Result    *engine.Result
	Plan      *engine.Plan
	Resumed   *engine.RecordedRun // its state before it was resumed; nil for a new run
	Workspace string              // its working directory
	Err       error               // why the run stopped and is interrupted; nil for every other
}

// Service implements API. Safe for concurrent use.
type Service struct {
	Config
	plans    *planCache
	feed     *feed.Feed
	recorded *recorded.Runs
	started  time.Time

	drainStarted, drainOver, force chan struct{} // closed in this order while a drain becomes more urgent
	stopPolling                    chan struct{} // closed when the polling goroutines must end

	waitingRuns   map[string]*waitConditions // used only by the follower's goroutine
	interrupted   map[string]int             // epochs of the interrupted runs at the last poll; likewise
	work, pollers sync.WaitGroup

	mu       sync.Mutex
	runs     map[string]*running
	parked   map[string]parkedRun // interrupted runs that are left to people
	counts   runCounts
	draining bool
	released int // number of released runs

	probing    sync.Mutex
	probed     time.Time
	unwritable error
}

var _ API = (*Service)(nil)

// New creates a Service and starts it. Errors are those of the Store.
func New(ctx context.Context, c Config) (*Service, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, plans: newPlanCache(c.Library, c.Served, c.Log), feed: feed.New(time.Now()), started: time.Now(),
		drainStarted: make(chan struct{}), drainOver: make(chan struct{}), force: make(chan struct{}), stopPolling: make(chan struct{}),
		runs: map[string]*running{}, parked: map[string]parkedRun{}}
	s.recorded = recorded.New(c.Store, s.plans)
	f := &follower{service: s}
	if err := f.begin(ctx); err != nil {
		return nil, err
	}
	s.plans.refresh()
	s.pollers.Go(func() { f.follow(s.stopPolling) })
	s.pollers.Go(func() { s.plans.follow(s.stopPolling) })
	return s, nil
}

// Watch implements API.
func (s *Service) Watch(ctx context.Context, after uint64) (<-chan []*feed.Update, bool) {
	return s.feed.Watch(ctx, after)
}

// RecordedRun implements API.
func (s *Service) RecordedRun(ctx context.Context, id string) (*engine.RecordedRun, error) {
	return s.recorded.RecordedRun(ctx, id)
}

// Info implements API.
func (s *Service) Info(ctx context.Context, id string) (history.RunInfo, error) {
	return s.Store.Info(ctx, id)
}

// Events implements API.
func (s *Service) Events(ctx context.Context, id string, after uint64) ([]dag.Event, error) {
	return s.Store.Events(ctx, id, after)
}

// Runs implements API.
func (s *Service) Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error) {
	return s.Store.Runs(ctx, q)
}

// State implements API.
func (s *Service) State(ctx context.Context, id history.StateID) ([]history.StateValue, error) {
	return s.Store.State(ctx, id)
}

// Queue implements API.
func (s *Service) Queue(ctx context.Context) (history.Queue, error) { return s.Store.Queue(ctx) }

// Tools implements API.
func (s *Service) Tools(context.Context) ([]Tool, error) { return s.plans.list(), nil }

// Plan implements API.
func (s *Service) Plan(_ context.Context, name string) (*engine.Plan, error) {
	if IsPath(name) {
		return nil, ErrPath
	}
	return s.plans.plan(name, false)
}

// Offered implements API. A run is one of the offered tool of its name only if both have the same
// file: flowrun run accepts any path, also of a file whose tool has the name of another.
func (s *Service) Offered(_ context.Context, past *engine.RecordedRun) error {
	name, file := past.Record.Tool, ""
	if len(past.Record.Sources) > 0 {
		file = past.Record.Sources[0].File
	}
	if _, offered, known := s.plans.find(name); !known || file != "" && !sameFile(file, offered) {
		return &library.NotFoundError{Name: name, Searched: []string{"the tools that the service offers"}}
	}
	return nil
}

// sameFile reports whether two paths are equal or lead to one file. A path that is equal may lead
// nowhere now: a tool whose file was removed is offered until its folder is read again.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Preview implements API.
func (s *Service) Preview(ctx context.Context, plan *engine.Plan, params map[string]any) (*preview.Preview, error) {
	v, err := plan.Preview(s.runEnv(plan, "").Until(ctx), params)
	if v != nil && len(v.MissingSecrets) > 0 {
		return v, nil
	}
	return v, err
}

// AnyPlan compiles a tool, including one that is not offered to callers over the network.
func (s *Service) AnyPlan(_ context.Context, name string) (*engine.Plan, error) {
	if IsPath(name) {
		return nil, ErrPath
	}
	return s.plans.plan(name, true)
}

// Definitions returns a number that grows when available definitions have changed.
func (s *Service) Definitions() uint64 {
	s.plans.mu.Lock()
	defer s.plans.mu.Unlock()
	return s.plans.version
}
