package service

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/internal/service/catalog"
	"github.com/flowrun/flowrun/internal/service/executor"
	"github.com/flowrun/flowrun/internal/service/feed"
	"github.com/flowrun/flowrun/library"
)

// Starter starts runs. Safe for concurrent use.
type Starter struct {
	engine      *engine.Engine
	store       history.Store
	catalog     *catalog.Catalog
	policy      Policy
	executor    *executor.Executor
	feed        *feed.Feed
	trace       history.TraceContext
	home        string
	isTransient func(error) bool
	notStarted  func(context.Context, NotStarted)
	log         *slog.Logger
}

// Start starts a run and returns its id once the run is durably recorded. A run that cannot start
// is recorded as failed, with the error, except for an API request with an unknown tool or invalid
// parameters.
func (s *Starter) Start(ctx context.Context, r Request) (string, error) {
	id, err := s.start(ctx, r)
	if err != nil && s.isRunFailure(r, err) {
		s.Failed(ctx, r, err)
	}
	return id, err
}

// isRunFailure reports whether a run that could not start is recorded as failed.
func (s *Starter) isRunFailure(r Request, err error) bool {
	switch {
	case errors.Is(err, outcome.ErrDraining), errors.Is(err, outcome.ErrPath), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case s.isTransient != nil && s.isTransient(err):
		return false
	}
	if r.Origin != "api" && r.Origin != "detach" {
		return true // the run is the only place where somebody sees the reason
	}
	var unknown *library.NotFoundError
	var params *value.ParamsError
	return !errors.As(err, &params) && !(errors.As(err, &unknown) && unknown.Name == r.Tool)
}

func (s *Starter) start(ctx context.Context, r Request) (string, error) {
	if catalog.IsPath(r.Tool) {
		return "", outcome.ErrPath
	}
	if r.ID != "" {
		if known, err := s.exists(ctx, r.ID); known || err != nil {
			return r.ID, err
		}
	}
	find := s.catalog.Plan
	if r.Unlisted {
		find = s.catalog.AnyPlan
	}
	plan, err := find(r.Tool)
	if err != nil {
		return "", err
	}
	if err := s.policy.Allows(plan); err != nil {
		return "", err
	}
	id := cmp.Or(r.ID, history.NewID(time.Now()))
	world, trace := s.runEnv(plan, r.Parent), s.traceOf(r)
	end := executor.Ended{Plan: plan, Workspace: world.Workspace}
	err = s.executor.Launch(ctx, &executor.Run{ID: id, Tool: plan.Name(), Origin: r.Origin, Verb: "started", End: end},
		func(o ...engine.RunOption) (*runresult.Result, error) {
			return s.engine.Run(onBehalf(ctx), plan, r.Params,
				append(o, engine.WithID(id), engine.WithOrigin(r.Origin), engine.WithTrace(trace), engine.WithRunEnv(world), engine.WithLabels(r.Labels))...)
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
func (s *Starter) traceOf(r Request) history.TraceContext {
	if r.Parent == "" {
		return s.trace
	}
	return history.TraceContext{Parent: r.Parent}
}

// exists reports whether a run with that id exists.
func (s *Starter) exists(ctx context.Context, id string) (bool, error) {
	_, err := s.store.Info(ctx, id)
	if errors.Is(err, history.ErrNoRun) {
		return false, nil
	}
	return err == nil, err
}

// runEnv returns the run environment: the project folder of the tool, or the home of the
// service's user for a tool without a project, and the environment of the service.
func (s *Starter) runEnv(p *engine.Plan, parent string) engine.RunEnv {
	w := engine.RunEnv{Workspace: s.home, Home: s.home, State: s.store.State}
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

// Preview returns what a run of a plan would do, without starting anything. If secrets of the tool are
// missing, the Preview names them.
func (s *Starter) Preview(ctx context.Context, plan *engine.Plan, params map[string]any) (*preview.Preview, error) {
	v, err := plan.Preview(s.runEnv(plan, "").Until(ctx), params)
	if v != nil && len(v.MissingSecrets) > 0 {
		return v, nil
	}
	return v, err
}
