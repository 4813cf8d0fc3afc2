package flowrun

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/internal/waiting"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// RecordedRun is a recorded run as far as it has come, which may be to its end. It is a
// picture of one moment: what a living owner does afterwards is not in it.
type RecordedRun struct {
	Record *Record
	Info   RunInfo
	Plan   *Plan       // of the definitions the run was started with, secrets in them masked
	Events []dag.Event // all of them, in order

	state *dag.State
}

// LoadRun reads a recorded run. The definitions are those that were kept with it;
// lib gives loaders, and tools written in Go. Errors: ErrNoRun; tool.Diagnostics
// when this version does not take the definitions any more.
func LoadRun(ctx context.Context, s Store, lib *tool.Library, id string) (*RecordedRun, error) {
	r, err := s.Record(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("cannot read run %s: %w", id, err)
	}
	p := &RecordedRun{Record: r}
	if r.NotStarted {
		p.Plan = planOf(unbegunPlan(r))
		return p, p.Refresh(ctx, s)
	}
	plan, err := compileRecord(r, lib.Snapshot(r.Sources), askedName(r))
	if err != nil {
		// One in which a secret was hidden may not be what it was.
		whole, lost := wholeSources(r, lib)
		if lost != nil {
			return nil, fmt.Errorf("cannot compile the definitions stored with run %s: %w", id, errors.Join(lost, err))
		}
		if plan, err = compileRecord(r, lib.Snapshot(whole), askedName(r)); err != nil {
			return nil, fmt.Errorf("cannot compile the definitions stored with run %s: %w", id, err)
		}
	}
	p.Plan = planOf(plan)
	return p, p.Refresh(ctx, s)
}

// Of says whether the run is one of the tool that a caller calls name: its name, or
// the file it was read from.
func (p *RecordedRun) Of(name string) bool {
	if name == p.Record.Tool {
		return true
	}
	file, err := filepath.Abs(name)
	return err == nil && len(p.Record.Sources) > 0 && p.Record.Sources[0].File == file
}

// NoStep is the error that the run has no step of that path, a *StepError.
func (p *RecordedRun) NoStep(path string) error { return p.Plan.compiled.NoStep(path) }

// Refresh reads what has happened since: where the run stands, and its new events.
// Whether it is live comes first: events that are written in between then belong to
// a living run.
func (p *RecordedRun) Refresh(ctx context.Context, s Store) (err error) {
	if p.Info, err = s.Info(ctx, p.Record.ID); err != nil {
		return fmt.Errorf("cannot read run %s: %w", p.Record.ID, err)
	}
	if p.state == nil {
		p.state = dag.NewState(p.Record.ID, p.Plan.compiled.Graph, nil)
	}
	for {
		more, err := s.Events(ctx, p.Record.ID, p.seq())
		if err != nil {
			return fmt.Errorf("cannot read the events of run %s: %w", p.Record.ID, err)
		}
		if len(more) == 0 {
			break
		}
		p.Events = append(p.Events, more...)
		for _, e := range more {
			p.state.Apply(e)
		}
	}
	return nil
}

// seq is the number of the last event.
func (p *RecordedRun) seq() uint64 {
	if len(p.Events) == 0 {
		return 0
	}
	return p.Events[len(p.Events)-1].Seq
}

// fold is the run's state over a plan.
func (p *RecordedRun) fold(plan *plan.Plan, a *call.Frame) *dag.State {
	var args dag.Args
	if a != nil {
		args = a
	}
	s := dag.NewState(p.Record.ID, plan.Graph, args)
	for _, e := range p.Events {
		s.Apply(e)
	}
	return s
}

// finished says whether the run has come to an end.
func (p *RecordedRun) finished() bool { return p.state.Result() != nil }

// Result is what came of the run so far. Steps that a dead engine left running are
// interrupted.
func (p *RecordedRun) Result() *Result {
	res := newResult(p.Record.ID, p.Plan.compiled, p.Record.Params, p.state)
	res.RetryOf = p.Record.RetryOf
	if !p.finished() {
		res.Status, res.Message, res.Started = p.Info.Status, p.Info.Message, p.Info.Started
	}
	if res.Status == dag.Waiting {
		res.holdersWait()
	}
	if p.Info.Status == dag.Pending { // perhaps not for the first time
		res.Status, res.Message, res.ExitCode, res.Ended = dag.Pending, p.Info.Message, 0, time.Time{}
	}
	res.LockDemands = needsOf(p.Plan.compiled)
	started := map[string]time.Time{}
	for _, e := range p.Events {
		if e.Kind == dag.StepStarted {
			started[string(e.Node)] = e.Time
		}
	}
	for i := range res.Steps {
		s := &res.Steps[i]
		if s.Started.IsZero() && s.Ended.IsZero() {
			s.Started = started[s.ID]
		}
		if s.Status == dag.Running && p.Info.Status != dag.Running {
			s.Status = dag.Interrupted
		}
	}
	res.Output, _, res.InvalidUTF8 = whole(res.output, steps.DefaultLimit)
	return res
}

// Questions are what the run asks and nobody has answered, in plan order: of a run that
// rests, or was left by its engine, and of a live one as far as it has come. An answer
// that is on record and not heard yet does not count.
func (p *RecordedRun) Questions() []Question {
	if p.finished() {
		return nil
	}
	return waiting.Questions(p.Record.ID, p.Record.Tool, p.state)
}

// begun is an error for a run that never began.
func (p *RecordedRun) begun(verb string) error {
	if p.Record.NotStarted {
		return fmt.Errorf("cannot %s run %s: %w", verb, p.Record.ID, ErrNotStarted)
	}
	return nil
}
