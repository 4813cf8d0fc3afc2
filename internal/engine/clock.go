package engine

import (
	"cmp"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/fold"
)

// clock finds the durations of a run and its steps from the events: package fold computes them. It is a sink of a run, or
// gets its recorded events.
type clock struct {
	run *fold.Run[struct{}]
	// settled are the steps that have ended and waited or were idle, which the fold may have dropped.
	settled map[dag.ID]fold.Durations
}

func newClock() *clock {
	return &clock{run: fold.New[struct{}](fold.Plan{}), settled: map[dag.ID]fold.Durations{}}
}

// Emit implements dag.Sink.
func (c *clock) Emit(e dag.Event) {
	s := c.run.Apply(&e)
	if e.Kind != dag.StepFinished || s == nil {
		return
	}
	if d := s.Durations(e.Time); d.Waited+d.Idle > 0 {
		c.settled[e.Node] = d
	} else if len(c.settled) > 0 {
		delete(c.settled, e.Node)
	}
}

// set sets the times of a result. started is when the run was created. lastSign is the last sign of life of its
// last owner, which counts if the run is interrupted.
func (c *clock) set(r *Result, started, lastSign time.Time) {
	r.Started, r.AsOf = started, time.Now()
	if r.Status == dag.Interrupted && r.Ended.IsZero() {
		r.LastSign, r.AsOf = lastSign, cmp.Or(lastSign, started)
	}
	d := c.run.Durations(r.Until())
	r.Waited, r.Idle = d.Waited, d.Idle
	for i := range r.Steps {
		c.setStep(&r.Steps[i], r)
	}
}

func (c *clock) setStep(s *StepResult, r *Result) {
	id := dag.ID(s.ID)
	if !s.Ended.IsZero() {
		d := c.settled[id]
		s.Waited, s.Idle = d.Waited, d.Idle
		return
	}
	step := c.run.Find(id)
	if s.Status == dag.Pending || step == nil {
		return
	}
	s.Started, s.LastSign, s.asOf = step.Began, r.LastSign, r.AsOf
	d := step.Durations(s.Until())
	s.Waited, s.Idle = d.Waited, d.Idle
}
