// Package executor executes runs in this process, until they end or the process stops.
//
// # The model
//
// An [Executor] knows the runs that it executes, by id, and executes none twice. A run has started
// when it is recorded; whoever starts it waits for that and not for its end. An executor that
// drains starts no run and ends none: running steps have some time to end, and then the runs are
// released, so that the next service resumes them (drain.go).
package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/service/feed"
)

// Config configures an Executor. Feed and Log are required.
type Config struct {
	Feed  *feed.Feed // gets the events of all runs
	Log   *slog.Logger
	Trace history.TraceContext // of runs whose caller has none
	// Ended is called for every run that has ended or started to wait. Its context ends when a
	// drain stops waiting. nil: nothing is called.
	Ended func(ctx context.Context, e Ended)
	// Waited is called with the time that a run spent in the queue. nil: nothing is called.
	Waited func(time.Duration)
}

// Ended describes a run that ended, started to wait, or stopped with an error.
type Ended struct {
	Result    *runresult.Result
	Plan      *engine.Plan
	Resumed   *engine.RecordedRun // its state before it was resumed; nil for a new run
	Workspace string              // its working directory
	Err       error               // why the run stopped and is interrupted; nil for every other
}

// Executor executes runs. Safe for concurrent use.
type Executor struct {
	Config
	drainStarted, drainOver, force chan struct{} // closed in this order while a drain becomes more urgent

	work     sync.WaitGroup
	mu       sync.Mutex
	runs     map[string]*Run
	draining bool
	released int // number of released runs
}

// New returns an Executor that executes nothing yet.
func New(c Config) *Executor {
	return &Executor{Config: c, drainStarted: make(chan struct{}), drainOver: make(chan struct{}), force: make(chan struct{}), runs: map[string]*Run{}}
}

// Run is a run that an Executor executes.
type Run struct {
	ID, Tool, Origin string
	Verb             string // what the service did with it, for the log: "started", "resumed"
	BeforeSteps      func() // called before any step runs; nil for nothing
	End              Ended  // the parts of the report that are known before the end

	log     *slog.Logger
	started chan struct{} // closed when the run is recorded and owned by this process
	done    chan struct{} // closed when this process has finished with the run
	err     error         // why it never started; read it only after done is closed
}

// onRecorded is called once by the engine, when the run is recorded.
func (r *Run) onRecorded() {
	if r.BeforeSteps != nil {
		r.BeforeSteps()
	}
	r.log.Info("run " + r.Verb)
	close(r.started)
}

// LogNotice logs what a notice is about. Its message and its step can have values of the caller, and are left out.
func LogNotice(log *slog.Logger, n dag.Notice) {
	log.Warn(cmp.Or(notice.KindOf(n.Code).Meaning, "the run has a notice"), "notice", n.Code)
}

// logEnd logs that a run has ended: as a warning, with the step that failed, unless it succeeded or somebody stopped it.
func logEnd(log *slog.Logger, res *runresult.Result) {
	level, facts := slog.LevelInfo, []any{"status", res.Status.String()}
	if len(res.Notes) > 0 {
		facts = append(facts, "notes", strings.Join(res.Notes, ", "))
	}
	if res.Status != dag.Succeeded && res.Status != dag.Cancelled {
		level = slog.LevelWarn
		if failed := res.Step(res.FirstFailed()); failed != nil {
			step := string(dag.ID(failed.ID).WithoutKeys()) // keys of loops are values
			facts = append(facts, "step", step, "message", "step "+step+" "+strings.ReplaceAll(failed.Status.String(), "-", " "))
		} else {
			facts = append(facts, "message", cmp.Or(res.Reason, "the run "+res.Status.String()))
		}
	}
	log.Log(context.Background(), level, "run ended", facts...)
}

// Launch starts do in a goroutine and returns when the run has started. If the executor executes a
// run with that id already, Launch waits for that one to start instead. The error is the reason why
// the run did not start, ErrDraining if the executor is draining.
func (x *Executor) Launch(ctx context.Context, r *Run, do func(...engine.RunOption) (*runresult.Result, error)) error {
	mine, err := x.register(r)
	if err != nil {
		return err
	}
	if mine == r {
		go x.execute(r, do)
	}
	select {
	case <-mine.started:
		return nil
	case <-mine.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-mine.started: // it has started, and ended already
		return nil
	default:
		return mine.err
	}
}

// register registers a run. If the id is registered already, it returns that entry.
func (x *Executor) register(r *Run) (*Run, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.draining {
		return nil, outcome.ErrDraining
	}
	if there := x.runs[r.ID]; there != nil {
		return there, nil
	}
	r.log = x.Log.With("run", r.ID, "tool", r.Tool, "origin", r.Origin)
	r.started, r.done = make(chan struct{}), make(chan struct{})
	x.runs[r.ID] = r
	x.work.Add(1)
	return r, nil
}

// Begin prevents a drain from ending until end is called: for work that belongs to no run. It
// reports false if the executor is draining.
func (x *Executor) Begin() (end func(), ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.draining {
		return nil, false
	}
	x.work.Add(1)
	return x.work.Done, true
}

// Owns reports whether the executor executes the run.
func (x *Executor) Owns(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.runs[id] != nil
}

// Load returns the number of runs that are executed, and whether the executor is draining.
func (x *Executor) Load() (running int, draining bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.runs), x.draining
}

// AwaitRelease waits at most for the given time until the executor has finished with a run: the
// engine may still be closing a run that has no owner according to the Store. The error is ErrLive
// if the run is still executed then.
func (x *Executor) AwaitRelease(ctx context.Context, id string, limit time.Duration) error {
	x.mu.Lock()
	former := x.runs[id]
	x.mu.Unlock()
	if former == nil {
		return nil
	}
	select {
	case <-former.done:
		return nil
	case <-time.After(limit):
		return fmt.Errorf("cannot resume run %s: %w", id, history.ErrLive)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// observeQueue observes the position of a run in the queue. A run without obstacles leaves the
// queue.
func (x *Executor) observeQueue(q history.QueuePosition) {
	if len(q.Obstacles) == 0 {
		x.Waited(time.Since(q.Since))
	}
}

// execute executes a run to its end.
func (x *Executor) execute(r *Run, do func(...engine.RunOption) (*runresult.Result, error)) {
	defer x.work.Done()
	options := []engine.RunOption{
		engine.WithOnRecorded(r.onRecorded), engine.WithSink(x.Feed.Sink(r.ID, r.Tool)),
		engine.WithRelease(x.drainStarted, x.drainOver), engine.WithForce(x.force), engine.WithTrace(x.Trace),
		engine.WithNotices(func(n dag.Notice) { LogNotice(r.log, n) }),
	}
	if x.Waited != nil {
		options = append(options, engine.WithQueue(x.observeQueue))
	}
	res, err := do(options...)
	r.err = err
	x.mu.Lock()
	delete(x.runs, r.ID)
	x.mu.Unlock()
	close(r.done)
	select {
	case <-r.started:
	default:
		return
	}
	switch {
	case errors.Is(err, dag.ErrReleased):
		x.mu.Lock()
		x.released++
		x.mu.Unlock()
		r.log.Info("run released; the next service resumes it")
	case err != nil:
		r.log.Error("run stopped with an error", "error", err)
		if r.End.Err = err; res != nil {
			x.reportEnd(r, res)
		}
	case res.Status == dag.Waiting:
		r.log.Info("run is waiting for an answer")
		x.reportEnd(r, res)
	default:
		logEnd(r.log, res)
		x.reportEnd(r, res)
	}
}

// reportEnd calls Config.Ended. Its context ends when a drain stops waiting.
func (x *Executor) reportEnd(r *Run, res *runresult.Result) {
	if x.Ended == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-x.drainOver:
			cancel()
		case <-ctx.Done():
		}
	}()
	r.End.Result = res
	x.Ended(ctx, r.End)
}
