package flowrun

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// Continuation is what taking up a recorded run would do. Look at it, then give it to
// Engine.Continue.
type Continuation struct {
	// Remainder says what runs again, what was never started, and what stands.
	*dag.Remainder
	// Asks are the steps that were running when the engine died, or may have been,
	// and whose definition leaves it to a person whether they run again
	// (on-interrupt: ask). While there are any, Continue refuses.
	Asks []dag.ID
	// Retry says that a new run begins, with the results that are kept.
	Retry bool

	past *RecordedRun
	plan *plan.Plan
	args *call.Params
}

// Lost are the steps that were running when the engine died and count as failed for
// good (on-interrupt: fail).
func (g *Continuation) Lost() []dag.ID {
	return slices.DeleteFunc(slices.Clone(g.Interrupted), func(path dag.ID) bool { return slices.Contains(g.Asks, path) })
}

// plan is that of the definitions the run was started with, to be run.
func (p *RecordedRun) plan(lib *tool.Library) (*plan.Plan, error) {
	if !slices.ContainsFunc(p.Record.Sources, func(s tool.Source) bool { return s.Original != "" }) {
		return p.Plan.compiled, nil
	}
	sources, err := wholeSources(p.Record, lib)
	if err != nil {
		return nil, err
	}
	return compileRecord(p.Record, lib.Snapshot(sources), askedName(p.Record))
}

// rule is what holds for a step that was interrupted.
func (g *Continuation) rule(path dag.ID) plan.Interrupt {
	if _, s := g.plan.Find(path); s != nil && s.Interrupt != "" {
		return s.Interrupt
	}
	return plan.AskWhenInterrupted
}

// ask finds the steps whose interruption a person has to judge. After a restart of
// the machine the last moments may be missing from the journal: then that is any
// step that has not ended, but for those whose start is always on record.
func (g *Continuation) ask() {
	for _, path := range g.Interrupted {
		if g.rule(path) == plan.AskWhenInterrupted {
			g.Asks = append(g.Asks, path)
		}
	}
	if !g.past.Info.Rebooted || g.past.finished() {
		return
	}
	for _, path := range slices.Concat(g.Left, g.Waiting) {
		if _, s := g.plan.Find(path); s != nil && asksPerson(s) {
			g.Asks = append(g.Asks, path)
		}
	}
}

// asksPerson says whether a person is to be asked about the step, or one inside it.
func asksPerson(s *plan.Step) bool {
	if s.Nested == nil {
		return s.Interrupt == plan.AskWhenInterrupted
	}
	return slices.ContainsFunc(s.Nested.Steps, asksPerson)
}

// settle finds the remainder, and sends kept steps back whose output is needed and
// was not kept, where they may run again.
func (g *Continuation) settle(rules dag.Rules) error {
	state := g.past.fold(g.plan, g.args.Frame())
	for {
		g.Remainder = state.Remainder(rules)
		lost := g.missing(state)
		if len(lost) == 0 {
			return nil
		}
		bad := &WithheldError{Run: g.past.Record.ID}
		for _, l := range lost {
			if g.mayRepeat(l.path) {
				rules.From = append(rules.From, l.path)
			} else {
				bad.Steps = append(bad.Steps, WithheldStep{Step: string(l.path), Reader: string(l.reader), Reason: l.why})
			}
		}
		if len(bad.Steps) > 0 {
			return bad
		}
	}
}

// mayRepeat says whether running a step, and all inside it, once more does no harm.
func (g *Continuation) mayRepeat(path dag.ID) bool {
	_, s := g.plan.Find(path)
	var harmless func(s *plan.Step) bool
	harmless = func(s *plan.Step) bool {
		if s.Nested == nil {
			return s.Interrupt == plan.RetryWhenInterrupted
		}
		return !slices.ContainsFunc(s.Nested.Steps, func(in *plan.Step) bool { return !harmless(in) })
	}
	return s != nil && harmless(s)
}

// detached are the paths of the steps that may have left something running on
// purpose.
func (g *Continuation) detached() []string {
	paths := map[string]bool{}
	for _, e := range g.past.Events {
		if _, s := g.plan.Find(e.Node); s != nil && s.Def.Detach {
			paths[string(e.Node)] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// Continue takes the run up. A resumed run keeps its id, a retried one gets a new
// one; WithRunEnv has no effect, the rest is as in Run. Where nothing is left to do it
// only ends the processes that a killed engine may have left. Errors beside those of
// Run: an *InterruptedError, ErrLive, ErrChanged.
func (e *Engine) Continue(ctx context.Context, g *Continuation, options ...RunOption) (*Result, error) {
	if e.config.Store == nil {
		return nil, errors.New("cannot continue a run: the engine has no Store")
	}
	if len(g.Asks) > 0 {
		return nil, &InterruptedError{Run: g.past.Record.ID, Steps: g.Asks}
	}
	if !g.Retry && g.Nothing() {
		return e.clear(ctx, g)
	}
	j := &job{plan: g.plan, args: g.args.Frame(), again: g}
	var done func()
	j.args.RunEnv, done = e.scripts(g.args.RunEnv)
	defer done()
	for _, opt := range options {
		opt(&j.runOptions)
	}
	switch {
	case !g.Retry:
		j.id = g.past.Record.ID
	case j.id == "":
		j.id = NewID(time.Now())
	}
	return e.run(ctx, j)
}

// Tools are the tools of the plan that continues the run.
func (g *Continuation) Tools() []UsedTool { return g.plan.Tools() }

// Preview is what taking the run up runs, the steps that stand included. Errors are
// those of Plan.Preview.
func (g *Continuation) Preview() (*Preview, error) {
	return (&Args{g.args, context.Background()}).Preview()
}
