package service

import (
	"context"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
)

// waitConditions is what a waiting run waits for.
type waitConditions struct {
	epoch     int       // of the run's last owner; the next owner may wait for something else
	questions []uint64  // numbers of its questions
	until     time.Time // the earliest deadline; zero: none
}

// resumeWaiting resumes waiting runs of the services when one of their questions is answered or its
// deadline has passed.
func (a *adopter) resumeWaiting(ctx context.Context, open []history.RunInfo) {
	resting := map[string]*waitConditions{}
	for _, info := range open {
		if info.Origin == "" || info.Status != dag.Waiting || a.executor.Owns(info.ID) {
			continue
		}
		r := a.waiting[info.ID]
		if r == nil || r.epoch != info.Epoch {
			past, err := a.control.runs.Load(ctx, info.ID)
			if err != nil || past.Info.Epoch != info.Epoch || past.Info.Status != dag.Waiting {
				continue // it cannot be read, or was resumed since it was listed; the next poll reads it again
			}
			r = waitConditionsOf(past)
		}
		resting[info.ID] = r
		ready := slices.ContainsFunc(info.Answered, func(w uint64) bool { return slices.Contains(r.questions, w) })
		if !ready && (r.until.IsZero() || time.Now().Before(r.until)) || a.parked.holds(info.ID) {
			continue
		}
		delete(resting, info.ID)
		a.tryAdopt(ctx, info)
	}
	a.waiting = resting
}

// waitConditionsOf returns what a run waits for.
func waitConditionsOf(p *engine.RecordedRun) *waitConditions {
	r := &waitConditions{epoch: p.Info.Epoch}
	for _, q := range p.Questions() {
		r.questions = append(r.questions, q.Wait)
		if !q.Until.IsZero() && (r.until.IsZero() || q.Until.Before(r.until)) {
			r.until = q.Until
		}
	}
	return r
}
