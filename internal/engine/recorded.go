package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/library"
)

// RecordedRun is a recorded run as far as it has come, possibly to its end. What a live owner does afterwards is not
// in it until Refresh is called. Several goroutines may use it as long as none calls Refresh.
type RecordedRun struct {
	Record *history.Record
	Info   history.RunInfo
	Plan   *Plan       // compiled from the definitions the run was started with, in which secrets are masked
	Events []dag.Event // all of them, in order

	folded *foldedState
	whole  *plan.Plan // a known plan, if secrets are masked in the record: what continues the run
	absent error      // why the definition is not available: the run is shown as its events tell it
}

// foldedState is the state that the first events of a run give. A run and its snapshots share it, so that each event
// is applied once, when the state is needed.
type foldedState struct {
	mu     sync.Mutex
	state  *dag.State
	events int // number of events in it
}

// LoadRun reads a recorded run. It uses the definitions stored with the run; lib provides loaders, and tools written
// in Go. A known plan, as Compile returned it, is used if it is of the same definitions. A run whose definitions cannot be
// compiled has the outermost steps that have begun, and Resume and Retry return the reason: a tool was made in Go, and is
// neither known nor in lib; or this version of flowrun no longer accepts a definition. Error: history.ErrNoRun.
func LoadRun(ctx context.Context, s history.Store, lib *library.Library, id string, known ...*Plan) (*RecordedRun, error) {
	r, err := s.Record(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("cannot read run %s: %w", id, err)
	}
	p := &RecordedRun{Record: r, folded: new(foldedState)}
	p.use(known)
	switch {
	case p.Plan != nil:
	case r.NotStarted:
		p.Plan = planOf(emptyPlan(r))
	default:
		p.absent = p.compile(lib)
	}
	return p, p.Refresh(ctx, s)
}

// use takes what it can of plans that are known: the Plan, or what continues a run in whose record secrets are masked.
func (p *RecordedRun) use(known []*Plan) {
	for _, k := range known {
		switch fits, whole := planFor(k.compiled, p.Record); {
		case fits == nil:
		case whole:
			p.whole = fits
		case fits == k.compiled:
			p.Plan = k
		default:
			p.Plan = planOf(fits)
		}
	}
}

// compile sets the Plan.
func (p *RecordedRun) compile(lib *library.Library) error {
	r := p.Record
	plan, err := compileRecord(r, lib.Snapshot(r.Sources), requestedName(r))
	if err != nil {
		// A definition may only be invalid because a secret in it was masked.
		whole, lost := wholeSources(r, lib)
		if lost != nil {
			return fmt.Errorf("cannot compile the definitions stored with it: %w", errors.Join(lost, err))
		}
		if plan, err = compileRecord(r, lib.Snapshot(whole), requestedName(r)); err != nil {
			return fmt.Errorf("cannot compile the definitions stored with it: %w", err)
		}
	}
	p.Plan = planOf(plan)
	return nil
}

// Of reports whether the run is one of the tool that a caller calls name: the tool's name, or the file it was read
// from.
func (p *RecordedRun) Of(name string) bool {
	if name == p.Record.Tool {
		return true
	}
	file, err := filepath.Abs(name)
	return err == nil && len(p.Record.Sources) > 0 && p.Record.Sources[0].File == file
}

// NoStep returns a *StepError: the run has no step of that path.
func (p *RecordedRun) NoStep(path string) error { return p.Plan.compiled.NoStep(path) }

// Refresh reads what has happened since the last call: the status of the run and its new events. The status is read
// first: events written in between then belong to a run that was live. If it was not, another process has taken the run
// over since, and its running steps would look interrupted, so both are read again.
func (p *RecordedRun) Refresh(ctx context.Context, s history.Store) error {
	for {
		info, err := s.Info(ctx, p.Record.ID)
		if err != nil {
			return fmt.Errorf("cannot read run %s: %w", p.Record.ID, err)
		}
		p.Info = info
		more, err := p.readEvents(ctx, s)
		if err != nil {
			return fmt.Errorf("cannot read the events of run %s: %w", p.Record.ID, err)
		}
		if !more || info.Live() {
			break
		}
	}
	if p.absent != nil {
		p.Plan, p.folded = planOf(seenPlan(p.Record, p.Events)), new(foldedState)
	}
	return nil
}

// readEvents reads the events that have been written since the last one. more reports whether there are any.
func (p *RecordedRun) readEvents(ctx context.Context, s history.Store) (more bool, err error) {
	for {
		events, err := s.Events(ctx, p.Record.ID, p.seq())
		if err != nil || len(events) == 0 {
			return more, err
		}
		p.Events, more = append(p.Events, events...), true
	}
}

// Snapshot returns the run as it is now, which a later Refresh of p does not change.
func (p *RecordedRun) Snapshot() *RecordedRun {
	now := *p
	now.Events = slices.Clip(p.Events)
	return &now
}

// seq returns the number of the last event, 0 if there is none.
func (p *RecordedRun) seq() uint64 {
	if len(p.Events) == 0 {
		return 0
	}
	return p.Events[len(p.Events)-1].Seq
}

// lastSign returns when the last owner of the run gave the last sign of life.
func (p *RecordedRun) lastSign() time.Time {
	last := p.Info.LastSign
	if n := len(p.Events); n > 0 && p.Events[n-1].Time.After(last) {
		last = p.Events[n-1].Time
	}
	return last
}

// fold returns the state that the run's events give over a plan.
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

// readState calls read with the state that the run's events give. read must not change it, and must not use it later:
// a later Refresh does change it.
func (p *RecordedRun) readState(read func(*dag.State)) {
	p.folded.mu.Lock()
	defer p.folded.mu.Unlock()
	if p.folded.events > len(p.Events) { // this is an old snapshot
		read(p.fold(p.Plan.compiled, nil))
		return
	}
	if p.folded.state == nil {
		p.folded.state = dag.NewState(p.Record.ID, p.Plan.compiled.Graph, nil)
	}
	for _, e := range p.Events[p.folded.events:] {
		p.folded.state.Apply(e)
	}
	p.folded.events = len(p.Events)
	read(p.folded.state)
}

// finished reports whether the run has ended.
func (p *RecordedRun) finished() (ended bool) {
	p.readState(func(s *dag.State) { ended = s.Result() != nil })
	return ended
}

// Result returns the outcome of the run so far. Steps that a killed engine left running are interrupted.
func (p *RecordedRun) Result() *runresult.Result {
	var res *runresult.Result
	p.readState(func(s *dag.State) { res = runresult.New(p.Record.ID, p.Plan.compiled, p.Record.Params, s) })
	res.RetryOf, res.Origin, res.Withheld = p.Record.RetryOf, p.Record.Origin, p.Record.Withheld
	res.Labels, res.Definitions = p.Record.Labels, p.Definitions()
	res.Attempt, res.RetryAt = p.Record.Attempt, p.Info.RetryAt
	res.Enforced, res.Unenforced = p.Record.Enforced, p.Record.Unenforced
	if !p.finished() {
		res.Status, res.Message = p.Info.Status, p.Info.Message
	}
	if res.Status == dag.Waiting {
		runresult.MarkHoldersWaiting(res)
	}
	if p.Info.Status == dag.Pending { // it may have run before and be queued again
		res.Status, res.Message, res.ExitCode, res.Ended = dag.Pending, p.Info.Message, 0, time.Time{}
	}
	res.LockDemands = lockDemandsOf(p.Plan.compiled)
	for i := range res.Steps {
		if s := &res.Steps[i]; s.Status == dag.Running && p.Info.Status != dag.Running {
			s.Status = dag.Interrupted
		}
	}
	clockOf(p.Events).set(res, p.Info.Started, p.lastSign())
	runresult.ReadOutput(res)
	return res
}

// Questions returns the open questions of the run, in plan order: of a run that is waiting or was left by its engine,
// and of a live one as far as it has come. An answer that is recorded but that the engine has not read yet does not
// count.
func (p *RecordedRun) Questions() []history.Question {
	var open []history.Question
	p.readState(func(s *dag.State) {
		if s.Result() == nil {
			open = waiting.Questions(p.Record.ID, p.Record.Tool, s)
		}
	})
	return open
}

// Named returns those of the questions that a caller means with step: the path of the step, or the path without
// attempts or items. "" means all.
func Named(questions []history.Question, step string) (named []history.Question) {
	for _, q := range questions {
		if step == "" || Means(step, q.Step) {
			named = append(named, q)
		}
	}
	return named
}

// Means reports whether a caller who writes word can mean the step with that path.
func Means(word, path string) bool {
	plain := dag.ID(path).WithoutAttempts()
	return path == word || plain == dag.ID(word) || dag.ID(word).Names(plain)
}

// checkStarted returns an error for a run that never started, or whose definition is not available.
func (p *RecordedRun) checkStarted(verb string) error {
	switch {
	case p.Record.NotStarted:
		return fmt.Errorf("cannot %s run %s: %w", verb, p.Record.ID, outcome.ErrNotStarted)
	case p.absent == nil || p.whole != nil:
		return nil
	case madeInGo(p.Record):
		return fmt.Errorf("cannot %s run %s: its tool %s was made in a Go program, which alone has the definition and must %s it (flowrun.LoadRun with its plan)", verb, p.Record.ID, p.Record.Tool, verb)
	}
	return fmt.Errorf("cannot %s run %s: %w", verb, p.Record.ID, p.absent)
}

// Definitions returns the definitions that the run used, that of its tool first, each once.
func (p *RecordedRun) Definitions() []runresult.Definition {
	return runresult.DefinitionsOf(p.Record.Sources)
}
