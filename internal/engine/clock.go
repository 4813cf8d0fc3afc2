package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/fold"
	"github.com/flowrun/flowrun/internal/engine/runresult"
)

// clock finds the durations of a run and its steps from the events: package fold computes them. It is a sink of a run, or
// gets its recorded events. Most runs never wait, so the clock of a new run notes only which steps are active until one does.
type clock struct {
	run     *fold.Run[struct{}] // nil in a new run until something waits
	began   dag.Event           // run.started
	started map[dag.ID]start    // the active steps, until there is a run
	// settled are the steps that have ended and waited or were idle, which the fold may have dropped.
	settled map[dag.ID]fold.Durations
}

// start is the start of a step in ns since 1970, as short as can be: thousands may be active.
type start int64

func (s start) time() time.Time { return time.Unix(0, int64(s)) }

func newClock() *clock {
	return &clock{started: map[dag.ID]start{}, settled: map[dag.ID]fold.Durations{}}
}

// clockOf returns the clock of a run with these events, which may continue.
func clockOf(recorded []dag.Event) *clock {
	c := newClock()
	c.open()
	for i := range recorded {
		c.Emit(recorded[i])
	}
	return c
}

// Emit implements dag.Sink.
func (c *clock) Emit(e dag.Event) {
	if c.run == nil && e.Kind == dag.StepWaiting {
		c.open()
	}
	if c.run == nil {
		c.note(&e)
		return
	}
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

// note notes the active steps. A step between two attempts is one of them.
func (c *clock) note(e *dag.Event) {
	switch e.Kind {
	case dag.RunStarted:
		c.began = *e
	case dag.StepStarted:
		if _, again := c.started[e.Node]; !again {
			c.started[e.Node] = start(e.Time.UnixNano())
		}
	case dag.StepFinished:
		delete(c.started, e.Node)
	}
}

// open makes the run, with the active steps.
func (c *clock) open() {
	c.run = fold.New[struct{}](fold.Plan{})
	if c.began.Kind != "" {
		c.run.Apply(&c.began)
	}
	for _, path := range slices.Sorted(maps.Keys(c.started)) { // what holds others comes first
		c.run.Apply(&dag.Event{Kind: dag.StepStarted, Node: path, Attempt: 1, Time: c.started[path].time()})
	}
}

// set sets the times of a result. started is when the run was created. lastSign is the last sign of life of its
// last owner, which counts if the run is interrupted.
func (c *clock) set(r *runresult.Result, started, lastSign time.Time) {
	r.Started, r.AsOf = started, time.Now()
	if r.Status == dag.Interrupted && r.Ended.IsZero() {
		r.LastSign, r.AsOf = lastSign, cmp.Or(lastSign, started)
	}
	if c.run != nil {
		d := c.run.Durations(r.Until())
		r.Waited, r.Idle = d.Waited, d.Idle
	}
	for i := range r.Steps {
		c.setStep(&r.Steps[i], r)
	}
}

func (c *clock) setStep(s *runresult.StepResult, r *runresult.Result) {
	id := dag.ID(s.ID)
	if !s.Ended.IsZero() {
		d := c.settled[id]
		s.Waited, s.Idle = d.Waited, d.Idle
		return
	}
	if s.Status == dag.Pending {
		return
	}
	s.LastSign = r.LastSign
	runresult.SetAsOf(s, r.AsOf)
	if c.run == nil {
		if at, ok := c.started[id]; ok && s.Started.IsZero() {
			s.Started = at.time()
		}
	} else if step := c.run.Find(id); step != nil {
		s.Started = step.Began
		d := step.Durations(s.Until())
		s.Waited, s.Idle = d.Waited, d.Idle
	}
}
