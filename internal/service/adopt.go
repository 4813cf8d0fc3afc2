package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
)

// A run that crashes the service must not do so forever. A run that was resumed
// maxAdoptions times within adoptionWindow, without one of its steps ending in between, is
// left to people.
const (
	maxAdoptions   = 3
	adoptionWindow = time.Hour
)

// errCrashLoop is the reason why such a run is no longer resumed.
var errCrashLoop = fmt.Errorf("it was resumed %d times within %v, and was interrupted each time before a step had ended", maxAdoptions, adoptionWindow)

// resumeRetryDelay is the delay before the service attempts again to resume a run that it could
// not resume: what was missing may be available by then.
const resumeRetryDelay = 5 * time.Minute

// parkedRun describes an interrupted run that the service leaves to people.
type parkedRun struct {
	why   string
	until time.Time // when the next attempt is made; zero: not before a person resumes the run
}

// adopt resumes the interrupted runs that belong to the services and have no owner. If two
// services attempt it, the Store admits one of them.
func (s *Service) adopt(ctx context.Context, open []history.RunInfo) {
	orphans := map[string]bool{}
	for _, info := range open {
		if info.Origin == "" || info.Status != dag.Interrupted && info.Status != dag.Waiting || s.owns(info.ID) {
			continue
		}
		orphans[info.ID] = true
		if info.Status == dag.Waiting {
			continue // see resumeWaiting
		}
		if engine.CalledByModel(info.Origin) && !info.Released {
			continue // its caller is gone, and may have called again
		}
		if s.isParked(info.ID) {
			continue
		}
		s.tryAdopt(ctx, info)
	}
	s.forgetParked(orphans)
}

// tryAdopt resumes a run. If that fails, it leaves the run to people.
func (s *Service) tryAdopt(ctx context.Context, info history.RunInfo) {
	switch err := s.adoptRun(ctx, info.ID, nil); {
	case err == nil, errors.Is(err, ErrDraining):
	case errors.Is(err, history.ErrLive), errors.Is(err, history.ErrChanged), errors.Is(err, history.ErrNoRun):
		// Another service resumed or finished it first.
	default:
		s.park(info, err)
	}
}

// adoptRun continues a run that has no owner. If cancelFor is set, it continues the run in
// order to cancel it, for that reason.
func (s *Service) adoptRun(ctx context.Context, id string, cancelFor error) error {
	past, err := s.recorded.Load(ctx, id)
	if err != nil {
		return err
	}
	if !s.inherited(past) && adoptions(past.Events, time.Now().Add(-adoptionWindow)) >= maxAdoptions {
		return errCrashLoop
	}
	g, err := past.Continue(s.plans.Library(), engine.ResumeOptions{})
	if err != nil {
		return err
	}
	if len(g.Asks) > 0 {
		return &outcome.InterruptedError{Run: id, Steps: g.Asks}
	}
	if err := s.checkPolicy(past.Plan); err != nil {
		return err
	}
	base, first := onBehalf(ctx), func() {}
	if cancelFor == nil && cancelled(past.Events) { // its cancellation is completed: cleanup that has run does not run again
		cancelFor = errCancelled
	}
	if cancelFor != nil {
		ctx, cancel := context.WithCancelCause(base)
		base, first = ctx, func() { cancel(cancelFor) }
	}
	return s.continueRun(ctx, base, past, g, "resumed after an interruption", first)
}

// errCancelled is the reason for cancelling a run that was being cancelled when its owner
// was killed.
var errCancelled = errors.New("it was being cancelled when it was interrupted")

// inherited reports whether the run was released by an earlier service that stopped in an
// orderly way. Such a run did not crash that service, however often services are restarted.
// A run that was interrupted while this service owned it is not inherited.
func (s *Service) inherited(p *engine.RecordedRun) bool {
	if !p.Info.Released {
		return false
	}
	for _, e := range slices.Backward(p.Events) {
		if e.Kind == dag.RunResumed {
			return e.Time.Before(s.started)
		}
	}
	return true
}

// adoptions counts how often a run was resumed after a given time and after the last of its
// steps ended.
func adoptions(events []dag.Event, since time.Time) (n int) {
	for _, e := range events {
		switch {
		case e.Kind == dag.StepFinished:
			n = 0
		case e.Kind == dag.RunResumed && e.Time.After(since):
			n++
		}
	}
	return n
}

// cancelled reports whether cancelling the run was requested since it was last resumed.
func cancelled(events []dag.Event) (yes bool) {
	for _, e := range events {
		switch e.Kind {
		case dag.RunResumed:
			yes = false
		case dag.RunCancelling:
			yes = yes || e.Node == "" && (e.Reason == dag.ReasonCancelled || e.Reason == dag.ReasonForced)
		}
	}
	return yes
}

// park leaves a run to people. It logs each reason once.
func (s *Service) park(info history.RunInfo, err error) {
	r := parkedRun{why: err.Error()}
	if !errors.Is(err, errCrashLoop) {
		r.until = time.Now().Add(resumeRetryDelay)
	}
	s.mu.Lock()
	known := s.parked[info.ID].why == r.why
	s.parked[info.ID] = r
	s.mu.Unlock()
	if !known {
		s.Log.Warn("run stays interrupted until a person resumes it", "run", info.ID, "tool", info.Tool, "origin", info.Origin, "reason", r.why)
	}
}

// NeedsPerson reports whether an interrupted run is left to people.
func (s *Service) NeedsPerson(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.parked[id]
	return there
}

// isParked reports whether the service does not attempt to resume the run for now.
func (s *Service) isParked(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, there := s.parked[id]
	return there && (r.until.IsZero() || time.Now().Before(r.until))
}

// forgetParked removes the runs that are no longer interrupted or waiting.
func (s *Service) forgetParked(orphans map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.parked {
		if !orphans[id] {
			delete(s.parked, id)
		}
	}
}
