package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/service/catalog"
	"github.com/flowrun/flowrun/internal/service/executor"
	"github.com/flowrun/flowrun/internal/service/feed"
	"github.com/flowrun/flowrun/internal/service/recorded"
	"github.com/flowrun/flowrun/library"
)

// Control changes what happens to runs: it resumes, retries, answers and cancels them. Safe for
// concurrent use.
type Control struct {
	engine   *engine.Engine
	store    history.Store // with the runs of other engines
	catalog  *catalog.Catalog
	policy   Policy
	executor *executor.Executor
	feed     *feed.Feed
	runs     *recorded.Runs
	started  time.Time // when the service started
}

// Resume resumes a run for a person, as flowrun resume does.
func (c *Control) Resume(ctx context.Context, id string) error {
	return c.proceed(ctx, id, (*engine.RecordedRun).Resume)
}

// planner is RecordedRun.Resume or RecordedRun.Continue.
type planner func(*engine.RecordedRun, *library.Library, engine.ResumeOptions) (*engine.Continuation, error)

func (c *Control) proceed(ctx context.Context, id string, plan planner) error {
	past, err := c.runs.Load(ctx, id)
	if err != nil {
		return err
	}
	g, err := c.continuation(past, plan)
	if err != nil {
		return err
	}
	return c.continueRun(ctx, onBehalf(ctx), past, g, "resumed", nil)
}

// continuation returns how a run continues. It is an error if that needs the decision of a person, or if the policy does
// not allow the tool.
func (c *Control) continuation(past *engine.RecordedRun, plan planner) (*engine.Continuation, error) {
	g, err := continuationOf(past, c.catalog.Library(), plan)
	if err != nil {
		return nil, err
	}
	return g, c.policy.Allows(past.Plan)
}

// continuationOf returns how a run continues, or an error if that needs the decision of a person.
func continuationOf(past *engine.RecordedRun, lib *library.Library, plan planner) (*engine.Continuation, error) {
	g, err := plan(past, lib, engine.ResumeOptions{})
	if err == nil && len(g.Asks) > 0 {
		err = &outcome.InterruptedError{Run: past.Record.ID, Steps: g.Asks}
	}
	return g, err
}

// PreviewResume returns what Resume would do, and starts nothing.
func (c *Control) PreviewResume(ctx context.Context, id string) (*engine.Continuation, error) {
	past, err := c.runs.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return past.Resume(c.catalog.Library(), engine.ResumeOptions{})
}

// PreviewRetry returns what Retry would do, and starts nothing.
func (c *Control) PreviewRetry(ctx context.Context, id string, from []string) (*engine.Continuation, error) {
	_, g, err := c.planRetry(ctx, id, from)
	return g, err
}

func (c *Control) planRetry(ctx context.Context, id string, from []string) (*engine.RecordedRun, *engine.Continuation, error) {
	past, err := c.runs.Load(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	g, err := past.Retry(c.catalog.Library(), engine.RetryOptions{From: from})
	return past, g, err
}

// continueRun resumes a run. The run is cancelled when base is. If first is not nil, it is called
// when this service owns the run and before any of its steps runs.
func (c *Control) continueRun(ctx, base context.Context, past *engine.RecordedRun, g *engine.Continuation, verb string, first func()) error {
	if err := c.executor.AwaitRelease(ctx, past.Record.ID, maxAnswerPoll); err != nil {
		return err
	}
	c.feed.CatchUp(past)
	r := &executor.Run{ID: past.Record.ID, Tool: past.Record.Tool, Origin: past.Record.Origin, Verb: verb, BeforeSteps: first,
		End: executor.Ended{Plan: past.Plan, Resumed: past, Workspace: past.Record.RunEnv.Workspace}}
	return c.executor.Launch(ctx, r, func(o ...engine.RunOption) (*runresult.Result, error) {
		return c.engine.Continue(base, g, o...)
	})
}

// Retry starts a new run that reuses the successful results of an earlier one, and returns its id.
// The steps in from and all downstream of them run again.
func (c *Control) Retry(ctx context.Context, id string, from []string) (string, error) {
	past, g, err := c.planRetry(ctx, id, from)
	if err != nil {
		return "", err
	}
	return c.launchRetry(ctx, past, g, "api", "started as a retry")
}

// launchRetry starts a run that retries another one, and returns its id.
func (c *Control) launchRetry(ctx context.Context, past *engine.RecordedRun, g *engine.Continuation, origin, verb string) (string, error) {
	if err := c.policy.Allows(past.Plan); err != nil {
		return "", err
	}
	r := &executor.Run{ID: history.NewID(time.Now()), Tool: past.Record.Tool, Origin: origin, Verb: verb,
		End: executor.Ended{Plan: past.Plan, Workspace: past.Record.RunEnv.Workspace}}
	err := c.executor.Launch(ctx, r, func(o ...engine.RunOption) (*runresult.Result, error) {
		return c.engine.Continue(onBehalf(ctx), g, append(o, engine.WithID(r.ID), engine.WithOrigin(r.Origin))...)
	})
	return r.ID, err
}

// Cancel requests that a run stops, or that one that has ended is not retried automatically.
func (c *Control) Cancel(ctx context.Context, id, reason string) error {
	recorded := false
	for until := time.Now().Add(maxAnswerPoll); ; {
		info, err := c.store.Info(ctx, id)
		switch {
		case err != nil:
			return err
		case info.Status == dag.Interrupted && info.Ended.IsZero():
			return fmt.Errorf("cannot cancel run %s: %w", id, outcome.ErrNotRunning)
		case !info.Ended.IsZero() && info.RetryAt.IsZero():
			return nil
		case info.Engine != "":
			return c.store.Cancel(ctx, id, reason)
		case info.Status != dag.Waiting:
			return c.store.Cancel(ctx, id, reason)
		}
		if !recorded { // for the audit log: nobody sees the request
			if err := c.store.Cancel(ctx, id, reason); err != nil {
				return err
			}
			recorded = true
		}
		// It has no owner that would see the request. If it gets one now, that one may.
		err = c.adopt(ctx, id, errors.New(reason))
		if changed := errors.Is(err, history.ErrLive) || errors.Is(err, history.ErrChanged); !changed || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(answerPollInterval):
		}
	}
}
