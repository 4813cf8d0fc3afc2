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
	"github.com/flowrun/flowrun/library"
)

// Resume implements API.
func (s *Service) Resume(ctx context.Context, id string) error {
	return s.proceed(ctx, id, (*engine.RecordedRun).Resume)
}

// carryOn continues a run that has been answered.
func (s *Service) carryOn(ctx context.Context, id string) error {
	return s.proceed(ctx, id, (*engine.RecordedRun).Continue)
}

// planner is RecordedRun.Resume or RecordedRun.Continue.
type planner func(*engine.RecordedRun, *library.Library, engine.ResumeOptions) (*engine.Continuation, error)

func (s *Service) proceed(ctx context.Context, id string, plan planner) error {
	past, err := s.recorded.Load(ctx, id)
	if err != nil {
		return err
	}
	g, err := plan(past, s.plans.Library(), engine.ResumeOptions{})
	if err != nil {
		return err
	}
	if len(g.Asks) > 0 {
		return &outcome.InterruptedError{Run: id, Steps: g.Asks}
	}
	if err := s.checkPolicy(past.Plan); err != nil {
		return err
	}
	return s.continueRun(ctx, onBehalf(ctx), past, g, "resumed", nil)
}

// PreviewResume implements API.
func (s *Service) PreviewResume(ctx context.Context, id string) (*engine.Continuation, error) {
	past, err := s.recorded.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return past.Resume(s.plans.Library(), engine.ResumeOptions{})
}

// PreviewRetry implements API.
func (s *Service) PreviewRetry(ctx context.Context, id string, from []string) (*engine.Continuation, error) {
	_, g, err := s.planRetry(ctx, id, from)
	return g, err
}

func (s *Service) planRetry(ctx context.Context, id string, from []string) (*engine.RecordedRun, *engine.Continuation, error) {
	past, err := s.recorded.Load(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	g, err := past.Retry(s.plans.Library(), engine.RetryOptions{From: from})
	return past, g, err
}

// continueRun resumes a run. The run is cancelled when base is. If first is not nil, it is called
// when this service owns the run and before any of its steps runs.
func (s *Service) continueRun(ctx, base context.Context, past *engine.RecordedRun, g *engine.Continuation, verb string, first func()) error {
	if err := s.awaitRelease(ctx, past.Record.ID); err != nil {
		return err
	}
	s.feed.CatchUp(past)
	r := &running{id: past.Record.ID, tool: past.Record.Tool, origin: past.Record.Origin, verb: verb, beforeSteps: first,
		end: Ended{Plan: past.Plan, Resumed: past, Workspace: past.Record.RunEnv.Workspace}}
	return s.launch(ctx, r, func(o ...engine.RunOption) (*engine.Result, error) {
		return s.Engine.Continue(base, g, o...)
	})
}

// awaitRelease waits until this service has finished with a run that has no owner according to the
// Store: the engine may still be closing it. The error is ErrLive if the run has been
// resumed elsewhere.
func (s *Service) awaitRelease(ctx context.Context, id string) error {
	s.mu.Lock()
	former := s.runs[id]
	s.mu.Unlock()
	if former == nil {
		return nil
	}
	select {
	case <-former.done:
		return nil
	case <-time.After(maxAnswerPoll):
		return fmt.Errorf("cannot resume run %s: %w", id, history.ErrLive)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Retry implements API.
func (s *Service) Retry(ctx context.Context, id string, from []string) (string, error) {
	past, g, err := s.planRetry(ctx, id, from)
	if err != nil {
		return "", err
	}
	if err := s.checkPolicy(past.Plan); err != nil {
		return "", err
	}
	r := &running{id: history.NewID(time.Now()), tool: past.Record.Tool, origin: "api", verb: "started as a retry",
		end: Ended{Plan: past.Plan, Workspace: past.Record.RunEnv.Workspace}}
	err = s.launch(ctx, r, func(o ...engine.RunOption) (*engine.Result, error) {
		return s.Engine.Continue(onBehalf(ctx), g, append(o, engine.WithID(r.id), engine.WithOrigin(r.origin))...)
	})
	return r.id, err
}

// Cancel implements API.
func (s *Service) Cancel(ctx context.Context, id, reason string) error {
	recorded := false
	for until := time.Now().Add(maxAnswerPoll); ; {
		info, err := s.Store.Info(ctx, id)
		switch {
		case err != nil:
			return err
		case info.Status == dag.Interrupted && info.Ended.IsZero():
			return fmt.Errorf("cannot cancel run %s: %w", id, ErrNotRunning)
		case !info.Ended.IsZero():
			return nil
		case info.Status != dag.Waiting:
			return s.Store.Cancel(ctx, id, reason)
		}
		if !recorded { // for the audit log: nobody sees the request
			if err := s.Store.Cancel(ctx, id, reason); err != nil {
				return err
			}
			recorded = true
		}
		// It has no owner that would see the request. If it gets one now, that one may.
		err = s.adoptRun(ctx, id, errors.New(reason))
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
