// Package service runs tools on behalf of others: of schedules, of callers over the
// network, of people who hand a run over and go away.
//
// # The model
//
// A [Service] is one process's part in a state directory. What is true of a run stands in
// the Store and nowhere else: the service can be killed at any moment, and the next one
// finds everything there. Several services may use one directory.
//
// A run that is begun here has an origin, which is kept with it. Such a run is the
// services': when its owner dies, or lets it go, the next service that looks takes it up
// again, and the Store sees to it that only one does (adopt.go). A person's own run, which
// has none, is nobody's but that person's.
//
// Definitions are read when they change and not when they are asked for (plan_cache.go). One
// that is broken leaves the last good version in force. A run keeps the version that it
// began with.
//
// What happens in runs, the service's own and those of other processes, is told to those
// who watch, in one numbered row of updates (feed.go, follow.go). It is a memory of the
// last moments; the history is where the truth is.
//
// A service that stops ends nothing: steps that run may end within a time, and then the
// runs are let go (drain.go).
package service

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/tool"
)

// Config is what a Service works with. Engine, Store and Library are needed.
type Config struct {
	Engine *flowrun.Engine // keeps its runs in Store
	Store  flowrun.Store
	// Library makes a Library of the definitions in reach. It is asked again now and
	// then, since folders come and go.
	Library func() *tool.Library
	// Decide says why a tool may not be run, nil where it may. nil: every tool may.
	Decide func(*flowrun.Plan) error
	// Observe gives a sink for a run that the engine is about to have, and what is to be
	// called when it is done with it. nil: nobody watches.
	Observe func(Started) (sink dag.Sink, done func())
	// Ended is told of every run that has ended in the service's hands, or has come to rest
	// there; it may take its time, and should give up when ctx ends. nil: nobody is.
	Ended func(ctx context.Context, e Ended)
	// NotStarted is told of every run that could not begin and is on record as failed; ctx and
	// time as of Ended. nil: nobody is.
	NotStarted func(ctx context.Context, u NotStarted)
	// IsTransient says whether what kept a run from beginning is not its own fault and may pass:
	// then it has not failed. nil: nothing does.
	IsTransient func(error) bool
	// Waited is told how long a run stood in line. nil: nobody is.
	Waited func(time.Duration)
	// Changes is a number that differs after other processes have written to the Store;
	// it is asked for several times a second. nil: the Store is looked at instead.
	Changes func() (int64, error)
	// Answered are the runs that rest and have answers, with the numbers of the questions.
	// nil: nobody answers but through the service.
	Answered func(context.Context) (map[string][]uint64, error)
	// Writable says why nothing can be recorded now. nil: it always can.
	Writable func(context.Context) error
	// Served are patterns of the built-in and discovered tools that are offered like those
	// in files.
	Served []string
	Home   string       // where runs of tools work that belong to no project; "" is the user's
	Log    *slog.Logger // told what is worth a line; nil: nobody is
}

// Started is a run that begins in the service's hands, or goes on there.
type Started struct {
	Run     string
	Plan    *flowrun.Plan
	Resumed *flowrun.RecordedRun // where it stood before it was taken up; nil for a new run
	RetryOf *flowrun.RecordedRun // the run that it tries again, nil for none
	Trace   flowrun.TraceContext // that its caller gave
}

// Ended is a run that has ended, come to rest, or broken off.
type Ended struct {
	Result    *flowrun.Result
	Plan      *flowrun.Plan
	Resumed   *flowrun.RecordedRun // where it stood before it was taken up; nil for a new run
	Workspace string               // the directory it was in
	Err       error                // why the run broke off, and is interrupted; nil for every other
}

// Service implements API. It is safe for concurrent use.
type Service struct {
	Config
	catalog *catalog
	feed    *feed
	started time.Time

	gently, now, force chan struct{} // closed as a drain gets more urgent
	quit               chan struct{} // closed when the service needs to look at nothing any more

	asleep      map[string]*rested // of the follower's goroutine
	work, looks sync.WaitGroup

	mu       sync.Mutex
	runs     map[string]*running
	rests    map[string]rest // runs that are not taken up
	standing standing
	draining bool
	left     int // runs that were let go

	probing    sync.Mutex
	probed     time.Time
	unwritable error
}

var _ API = (*Service)(nil)

// New makes a Service and sets it to work. Errors are those of the Store.
func New(ctx context.Context, c Config) (*Service, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, catalog: newCatalog(c.Library, c.Served, c.Log), feed: newFeed(time.Now()), started: time.Now(),
		gently: make(chan struct{}), now: make(chan struct{}), force: make(chan struct{}), quit: make(chan struct{}),
		runs: map[string]*running{}, rests: map[string]rest{}}
	f := &follower{service: s}
	if err := f.begin(ctx); err != nil {
		return nil, err
	}
	s.catalog.look()
	s.looks.Go(func() { f.follow(s.quit) })
	s.looks.Go(func() { s.catalog.follow(s.quit) })
	return s, nil
}

// Watch implements API.
func (s *Service) Watch(ctx context.Context, after uint64) (<-chan Update, bool) {
	return s.feed.watch(ctx, after)
}

// RecordedRun implements API.
func (s *Service) RecordedRun(ctx context.Context, id string) (*flowrun.RecordedRun, error) {
	return flowrun.LoadRun(ctx, s.Store, s.catalog.tools(), id)
}

// Info implements API.
func (s *Service) Info(ctx context.Context, id string) (flowrun.RunInfo, error) {
	return s.Store.Info(ctx, id)
}

// Events implements API.
func (s *Service) Events(ctx context.Context, id string, after uint64) ([]dag.Event, error) {
	return s.Store.Events(ctx, id, after)
}

// Runs implements API.
func (s *Service) Runs(ctx context.Context, q flowrun.Query) ([]flowrun.RunInfo, error) {
	return s.Store.Runs(ctx, q)
}

// Queue implements API.
func (s *Service) Queue(ctx context.Context) (flowrun.Queue, error) { return s.Store.Queue(ctx) }

// Tools implements API.
func (s *Service) Tools(context.Context) ([]Tool, error) { return s.catalog.list(), nil }

// Plan implements API.
func (s *Service) Plan(_ context.Context, name string) (*flowrun.Plan, error) {
	if IsPath(name) {
		return nil, ErrPath
	}
	return s.catalog.plan(name, false)
}

// AnyPlan is a tool compiled, also one that is not offered to callers over the network.
func (s *Service) AnyPlan(_ context.Context, name string) (*flowrun.Plan, error) {
	if IsPath(name) {
		return nil, ErrPath
	}
	return s.catalog.plan(name, true)
}

// Definitions is a number that grows when definitions in reach have changed.
func (s *Service) Definitions() uint64 {
	s.catalog.mu.Lock()
	defer s.catalog.mu.Unlock()
	return s.catalog.version
}
