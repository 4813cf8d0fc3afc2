package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/library"
)

// Start implements API.
func (s *Service) Start(ctx context.Context, r Request) (string, error) {
	id, err := s.start(ctx, r)
	if err != nil && s.isRunFailure(r, err) {
		s.Failed(ctx, r, err)
	}
	return id, err
}

// isRunFailure reports whether a run that could not start is recorded as failed.
func (s *Service) isRunFailure(r Request, err error) bool {
	switch {
	case errors.Is(err, ErrDraining), errors.Is(err, ErrPath), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case s.IsTransient != nil && s.IsTransient(err):
		return false
	}
	if r.Origin != "api" && r.Origin != "detach" {
		return true // the run is the only place where somebody sees the reason
	}
	var unknown *library.NotFoundError
	var params *value.ParamsError
	return !errors.As(err, &params) && !(errors.As(err, &unknown) && unknown.Name == r.Tool)
}

func (s *Service) start(ctx context.Context, r Request) (string, error) {
	if IsPath(r.Tool) {
		return "", ErrPath
	}
	if r.ID != "" {
		if known, err := s.exists(ctx, r.ID); known || err != nil {
			return r.ID, err
		}
	}
	plan, err := s.plans.plan(r.Tool, r.Unlisted)
	if err != nil {
		return "", err
	}
	if err := s.checkPolicy(plan); err != nil {
		return "", err
	}
	id := cmp.Or(r.ID, history.NewID(time.Now()))
	world, trace := s.runEnv(plan, r.Parent), s.traceOf(r)
	end := Ended{Plan: plan, Workspace: world.Workspace}
	err = s.launch(ctx, &running{id: id, tool: plan.Name(), origin: r.Origin, verb: "started", end: end},
		func(o ...engine.RunOption) (*engine.Result, error) {
			return s.Engine.Run(onBehalf(ctx), plan, r.Params,
				append(o, engine.WithID(id), engine.WithOrigin(r.Origin), engine.WithTrace(trace), engine.WithRunEnv(world))...)
		})
	if err == nil {
		return id, nil
	}
	if r.ID != "" { // another process may have started it meanwhile
		if known, _ := s.exists(ctx, r.ID); known {
			return r.ID, nil
		}
	}
	return "", err
}

// onBehalf returns the context of a run that somebody requested: it knows who, and outlasts the
// request.
func onBehalf(ctx context.Context) context.Context {
	return history.WithActor(context.Background(), history.ActorOf(ctx))
}

// traceOf returns the trace that a requested run is part of.
func (s *Service) traceOf(r Request) history.TraceContext {
	if r.Parent == "" {
		return s.Trace
	}
	return history.TraceContext{Parent: r.Parent}
}

// IsPath reports whether name is the path of a file.
func IsPath(name string) bool {
	return tool.Extension(name) != "" || strings.ContainsAny(name, `/\`)
}

// exists reports whether a run with that id exists.
func (s *Service) exists(ctx context.Context, id string) (bool, error) {
	_, err := s.Store.Info(ctx, id)
	if errors.Is(err, history.ErrNoRun) {
		return false, nil
	}
	return err == nil, err
}

// Allows returns the reason why the policy does not allow the tool, nil if it does.
func (s *Service) Allows(p *engine.Plan) error { return s.checkPolicy(p) }

// checkPolicy returns the reason why the policy does not allow the tool.
func (s *Service) checkPolicy(p *engine.Plan) error {
	if s.Decide == nil {
		return nil
	}
	if err := s.Decide(p); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return nil
}

// runEnv returns the run environment: the project folder of the tool, or the home of the
// service's user for a tool without a project, and the environment of the service.
func (s *Service) runEnv(p *engine.Plan, parent string) engine.RunEnv {
	w := engine.RunEnv{Workspace: s.Home, Home: s.Home, State: s.Store.State}
	if w.Workspace == "" {
		w.Workspace, _ = home.Dir()
	}
	if d := p.Definition; d.Scope == tool.ScopeLocal {
		w.Workspace = filepath.Dir(filepath.Dir(filepath.Dir(d.File))) // PROJECT/.flowrun/tools/NAME.yaml
	}
	if parent != "" {
		w.Env = append(os.Environ(), "TRACEPARENT="+parent)
	}
	return w
}

// running is a run that this service executes.
type running struct {
	id, tool, origin string
	verb             string // what the service did with it, for the log: "started", "resumed"
	beforeSteps      func() // called before any step runs; nil for nothing
	log              *slog.Logger
	end              Ended // the parts of the report that are known before the end

	started chan struct{} // closed when the run is recorded and owned by this service
	done    chan struct{} // closed when this service has finished with the run
	err     error         // why it never started; read it only after done is closed
}

// onRecorded is called once by the engine, when the run is recorded.
func (r *running) onRecorded() {
	if r.beforeSteps != nil {
		r.beforeSteps()
	}
	r.log.Info("run " + r.verb)
	close(r.started)
}

// onNotice logs that the system is too short of something to start a step: such a run looks as if it worked. The step is
// not named, because its path can have values of the caller.
func (r *running) onNotice(n notice.Notice) {
	if n.Code == "shortage" && n.Step != "" {
		r.log.Warn("a step waits until this process may open more files or start more processes")
	}
}

// launch starts do in a goroutine and returns when the run has started. Its error is the
// reason why the run did not start.
func (s *Service) launch(ctx context.Context, r *running, do func(...engine.RunOption) (*engine.Result, error)) error {
	mine, err := s.register(r)
	if err != nil {
		return err
	}
	if mine == r {
		go s.execute(r, do)
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

// register registers a run in this service. If the id is registered already, it returns that
// entry.
func (s *Service) register(r *running) (*running, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil, ErrDraining
	}
	if there := s.runs[r.id]; there != nil {
		return there, nil
	}
	r.log = s.Log.With("run", r.id, "tool", r.tool, "origin", r.origin)
	r.started, r.done = make(chan struct{}), make(chan struct{})
	s.runs[r.id] = r
	s.work.Add(1)
	return r, nil
}

// owns reports whether this service executes the run.
func (s *Service) owns(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[id] != nil
}

// observeQueue observes the position of a run in the queue. A run without obstacles leaves the
// queue.
func (s *Service) observeQueue(q history.QueuePosition) {
	if len(q.Obstacles) == 0 {
		s.Waited(time.Since(q.Since))
	}
}

// execute executes a run to its end.
func (s *Service) execute(r *running, do func(...engine.RunOption) (*engine.Result, error)) {
	defer s.work.Done()
	options := []engine.RunOption{
		engine.WithOnRecorded(r.onRecorded), engine.WithSink(s.feed.Sink(r.id, r.tool)),
		engine.WithRelease(s.drainStarted, s.drainOver), engine.WithForce(s.force), engine.WithTrace(s.Trace),
		engine.WithNotices(r.onNotice),
	}
	if s.Waited != nil {
		options = append(options, engine.WithQueue(s.observeQueue))
	}
	res, err := do(options...)
	r.err = err
	s.mu.Lock()
	delete(s.runs, r.id)
	s.mu.Unlock()
	close(r.done)
	select {
	case <-r.started:
	default:
		return
	}
	switch {
	case errors.Is(err, dag.ErrReleased):
		s.mu.Lock()
		s.released++
		s.mu.Unlock()
		r.log.Info("run released; the next service resumes it")
	case err != nil:
		r.log.Error("run stopped with an error", "error", err)
		if r.end.Err = err; res != nil {
			s.reportEnd(r, res)
		}
	case res.Status == dag.Waiting:
		r.log.Info("run is waiting for an answer")
		s.reportEnd(r, res)
	default:
		r.log.Info("run ended", "status", res.Status.String(), "notes", strings.Join(res.Notes, ", "))
		s.reportEnd(r, res)
	}
}

// reportEnd calls Config.Ended. Its context ends when a drain stops waiting.
func (s *Service) reportEnd(r *running, res *engine.Result) {
	if s.Ended == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-s.drainOver:
			cancel()
		case <-ctx.Done():
		}
	}()
	r.end.Result = res
	s.Ended(ctx, r.end)
}
