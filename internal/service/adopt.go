package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
)

// A run that takes its service with it must not do so for ever: when it was taken up
// mostAdoptions times within adoptionsIn and no step of it has ended since, it rests.
const (
	maxAdoptions = 3
	adoptionsIn  = time.Hour
)

// errLoops is why such a run rests.
var errLoops = fmt.Errorf("it was resumed %d times within %v, and was interrupted each time before a step had ended", maxAdoptions, adoptionsIn)

// againAfter is when a run is looked at again that could not be taken up: what it lacks
// may have come.
const againAfter = 5 * time.Minute

// rest is a run that is left to people.
type rest struct {
	why   string
	until time.Time // when it is looked at again; zero: not before somebody took it up
}

// adopt takes up the runs that belong to the services and that nobody executes. Of two
// services that try, the Store lets one.
func (s *Service) adopt(ctx context.Context, open []flowrun.RunInfo) {
	orphans := map[string]bool{}
	for _, info := range open {
		if info.Origin == "" || info.Status != dag.Interrupted && info.Status != dag.Waiting || s.owns(info.ID) {
			continue
		}
		orphans[info.ID] = true
		if info.Status == dag.Waiting {
			continue // see wake
		}
		if info.Origin == flowrun.OriginCall && !info.Released {
			continue // its caller has gone, and may have called again
		}
		if s.resting(info.ID) {
			continue
		}
		s.tryTakeUp(ctx, info)
	}
	s.restless(orphans)
}

// tryTakeUp takes a run up, or leaves it to people where that cannot be.
func (s *Service) tryTakeUp(ctx context.Context, info flowrun.RunInfo) {
	switch err := s.takeUp(ctx, info.ID, nil); {
	case err == nil, errors.Is(err, ErrDraining):
	case errors.Is(err, flowrun.ErrLive), errors.Is(err, flowrun.ErrChanged), errors.Is(err, flowrun.ErrNoRun):
		// Another service was first.
	default:
		s.rest(info, err)
	}
}

// takeUp goes on with a run, as flowrun resume would; to cancel it where that says why.
func (s *Service) takeUp(ctx context.Context, id string, cancelFor error) error {
	past, err := s.RecordedRun(ctx, id)
	if err != nil {
		return err
	}
	if !s.inherited(past) && adoptions(past.Events, time.Now().Add(-adoptionsIn)) >= maxAdoptions {
		return errLoops
	}
	g, err := past.Resume(s.catalog.tools(), flowrun.ResumeOptions{})
	if err != nil {
		return err
	}
	if len(g.Asks) > 0 {
		return &flowrun.InterruptedError{Run: id, Steps: g.Asks}
	}
	if err := s.allowed(past.Plan); err != nil {
		return err
	}
	base, first := context.Background(), func() {}
	if cancelFor == nil && cancelled(past.Events) { // that is brought to its end, and what it undid is not done again
		cancelFor = errCancelled
	}
	if cancelFor != nil {
		ctx, cancel := context.WithCancelCause(base)
		base, first = ctx, func() { cancel(cancelFor) }
	}
	return s.goOn(ctx, base, past, g, "resumed after an interruption", first)
}

// errCancelled is why a run is cancelled that was being cancelled when its owner died.
var errCancelled = errors.New("it was being cancelled when it was interrupted")

// inherited says whether a service before this one stopped in order and let the run go:
// then it is not the run that took that service down, however often services are started
// anew. What breaks off in the hands of this one is not inherited.
func (s *Service) inherited(p *flowrun.RecordedRun) bool {
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

// adoptions counts how often a run was taken up since a time, and since a step of it
// last ended.
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

// cancelled says whether somebody has asked the run to stop since it was last taken up.
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

// rest leaves a run to people, and says so once for each reason.
func (s *Service) rest(info flowrun.RunInfo, err error) {
	r := rest{why: err.Error()}
	if !errors.Is(err, errLoops) {
		r.until = time.Now().Add(againAfter)
	}
	s.mu.Lock()
	known := s.rests[info.ID].why == r.why
	s.rests[info.ID] = r
	s.mu.Unlock()
	if !known {
		s.Log.Warn("run stays interrupted until a person resumes it", "run", info.ID, "tool", info.Tool, "origin", info.Origin, "reason", r.why)
	}
}

// NeedsPerson says whether a run that was interrupted is left to people.
func (s *Service) NeedsPerson(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.rests[id]
	return there
}

// resting says whether a run is not to be looked at now.
func (s *Service) resting(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, there := s.rests[id]
	return there && (r.until.IsZero() || time.Now().Before(r.until))
}

// restless forgets runs that rest no more.
func (s *Service) restless(orphans map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.rests {
		if !orphans[id] {
			delete(s.rests, id)
		}
	}
}
