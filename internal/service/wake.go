package service

import (
	"context"
	"slices"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
)

// rested is what a waiting run waits for.
type rested struct {
	waits []uint64  // numbers of its questions
	until time.Time // the earliest deadline; zero: none
}

// wake resumes waiting runs of the services when one of their questions is answered or its
// deadline has passed. Only the follower's goroutine calls it.
func (s *Service) wake(ctx context.Context, open []flowrun.RunInfo) {
	resting := map[string]*rested{}
	var answered map[string][]uint64
	for _, info := range open {
		if info.Origin == "" || info.Status != dag.Waiting || s.owns(info.ID) {
			continue
		}
		r := s.asleep[info.ID]
		if r == nil {
			past, err := s.RecordedRun(ctx, info.ID)
			if err != nil {
				continue // the next poll reads it again
			}
			r = restOf(past)
		}
		resting[info.ID] = r
		if answered == nil && s.Answered != nil {
			var err error
			if answered, err = s.Answered(ctx); err != nil {
				continue
			}
		}
		ready := slices.ContainsFunc(answered[info.ID], func(w uint64) bool { return slices.Contains(r.waits, w) })
		if !ready && (r.until.IsZero() || time.Now().Before(r.until)) || s.resting(info.ID) {
			continue
		}
		delete(resting, info.ID)
		s.tryTakeUp(ctx, info)
	}
	s.asleep = resting
}

// restOf returns what a run waits for.
func restOf(p *flowrun.RecordedRun) *rested {
	r := &rested{}
	for _, q := range p.Questions() {
		r.waits = append(r.waits, q.Wait)
		if !q.Until.IsZero() && (r.until.IsZero() || q.Until.Before(r.until)) {
			r.until = q.Until
		}
	}
	return r
}
