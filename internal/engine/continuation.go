package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// Continuation describes how a recorded run would be resumed or retried. Inspect it, then pass it to
// Engine.Continue.
type Continuation struct {
	// Remainder lists the steps that run again, those that never started, and those whose results are kept.
	*dag.Remainder
	// Asks lists the steps that were running when flowrun was killed, or may have been, and for which a person must
	// decide whether they run again (on-interrupt: ask). While it is not empty, Continue refuses.
	Asks []dag.ID
	// Retry reports whether this is a new run that reuses the kept results, not the same run resumed.
	Retry bool

	automatic bool // see NextAttempt
	recorded  *RecordedRun
	plan      *plan.Plan
	args      *call.Params
}

// Plan returns the plan that is carried on: that of the recorded definitions, or of the current ones.
func (g *Continuation) Plan() *Plan { return planOf(g.plan) }

// Lost returns the steps that were running when flowrun was killed and count as failed for good (on-interrupt: fail).
func (g *Continuation) Lost() []dag.ID {
	return slices.DeleteFunc(slices.Clone(g.Interrupted), func(path dag.ID) bool { return slices.Contains(g.Asks, path) })
}

// plan returns the plan to execute, compiled from the definitions with which the run was started. Secrets that were
// masked in the record are read again from their files.
func (p *RecordedRun) plan(lib *library.Library) (*plan.Plan, error) {
	if p.whole != nil {
		return p.whole, nil
	}
	if !slices.ContainsFunc(p.Record.Sources, func(s tool.Source) bool { return s.Original != "" }) {
		return p.Plan.compiled, nil
	}
	sources, err := wholeSources(p.Record, lib)
	if err != nil {
		return nil, err
	}
	return compileRecord(p.Record, lib.Snapshot(sources), requestedName(p.Record))
}

// rule returns the on-interrupt rule of a step, ask by default.
func (g *Continuation) rule(path dag.ID) plan.Interrupt {
	if _, s := g.plan.Find(path); s != nil && s.Interrupt != "" {
		return s.Interrupt
	}
	return plan.AskWhenInterrupted
}

// collectAsks collects in Asks the interrupted steps that a person must decide about. After a restart of the machine
// the last moments may be missing from the journal. Then every step that has not ended may have been running, except
// those whose start is always recorded before they begin.
func (g *Continuation) collectAsks() {
	for _, path := range g.Interrupted {
		if g.rule(path) == plan.AskWhenInterrupted {
			g.Asks = append(g.Asks, path)
		}
	}
	if !g.recorded.Info.Rebooted || g.recorded.finished() {
		return
	}
	for _, path := range slices.Concat(g.Left, g.Held, g.Waiting) {
		if _, s := g.plan.Find(path); s != nil && asksPerson(s) {
			g.Asks = append(g.Asks, path)
		}
	}
}

// asksPerson reports whether the rule of the step, or of one inside it, is to ask a person.
func asksPerson(s *plan.Step) bool {
	if s.Nested == nil {
		return s.Interrupt == plan.AskWhenInterrupted
	}
	return slices.ContainsFunc(s.Nested.Steps, asksPerson)
}

// computeRemainder computes the remainder. Kept steps whose output is needed but was not stored are rerun if their
// rule allows it; the error is a *WithheldError that names those that may not.
func (g *Continuation) computeRemainder(rules dag.Rules) error {
	state := g.recorded.fold(g.plan, g.args.Frame())
	for {
		g.Remainder = state.Remainder(rules)
		lost := g.missing(state)
		if len(lost) == 0 {
			g.Cleaned = slices.DeleteFunc(g.Cleaned, func(c dag.Cleaned) bool { return g.undoesNothing(c.By) })
			return nil
		}
		bad := &outcome.WithheldError{Run: g.recorded.Record.ID}
		for _, l := range lost {
			if g.mayRepeat(l.path) {
				rules.From = append(rules.From, l.path)
			} else {
				bad.Steps = append(bad.Steps, outcome.WithheldStep{Step: string(l.path), Reader: string(l.reader), Reason: l.why})
			}
		}
		if len(bad.Steps) > 0 {
			return bad
		}
	}
}

// undoesNothing reports whether a node is the cleanup of a call without commands, which leaves the temporary directory of a
// call that has not succeeded.
func (g *Continuation) undoesNothing(by dag.ID) bool {
	if by.Base() != plan.CleanupID {
		return false
	}
	p := g.plan
	if outer, ok := strings.CutSuffix(string(by), "/"+string(plan.CleanupID)); ok {
		if _, s := p.Find(dag.ID(outer)); s != nil {
			p = s.Nested
		}
	}
	return p != nil && p.Cleanup != nil && len(p.Cleanup.Commands) == 0 && !p.Definition.Resources.DeleteTempFiles
}

// mayRepeat reports whether a step, and all steps inside it, may run once more (on-interrupt: retry).
func (g *Continuation) mayRepeat(path dag.ID) bool {
	_, s := g.plan.Find(path)
	var repeatable func(s *plan.Step) bool
	repeatable = func(s *plan.Step) bool {
		if s.Nested == nil {
			return s.Interrupt == plan.RetryWhenInterrupted
		}
		return !slices.ContainsFunc(s.Nested.Steps, func(in *plan.Step) bool { return !repeatable(in) })
	}
	return s != nil && repeatable(s)
}

// detached returns the paths of the steps that may have left processes running on purpose (detach).
func (g *Continuation) detached() []string {
	paths := map[string]bool{}
	for _, e := range g.recorded.Events {
		if _, s := g.plan.Find(e.Node); s != nil && s.Def.Detach {
			paths[string(e.Node)] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// Continue executes the rest of the run. A resumed run keeps its id, a retried one gets a new one. WithRunEnv has no
// effect; everything else is as in Run. If nothing is left to do, Continue only ends the processes that a killed
// engine may have left. Errors beside those of Run: an *InterruptedError, ErrLive, ErrChanged.
func (e *Engine) Continue(ctx context.Context, g *Continuation, options ...RunOption) (*runresult.Result, error) {
	if e.config.Store == nil {
		return nil, errors.New("cannot continue a run: the engine has no Store")
	}
	if len(g.Asks) > 0 {
		return nil, &outcome.InterruptedError{Run: g.recorded.Record.ID, Steps: g.Asks}
	}
	if !g.Retry && g.Nothing() {
		return e.endLeftoversOf(ctx, g)
	}
	j := &job{plan: g.plan, args: g.args.Frame(), continuation: g}
	for _, opt := range options {
		opt(&j.runOptions)
	}
	var done func()
	j.args.RunEnv, done = e.scripts(g.args.RunEnv, &j.runOptions)
	defer done()
	if g.automatic {
		j.origin = cmp.Or(j.origin, g.recorded.Record.Origin)
	}
	switch {
	case !g.Retry:
		j.id = g.recorded.Record.ID
	case j.id == "":
		j.id = history.NewID(time.Now())
	}
	return e.run(ctx, j)
}

// Tools returns the tools of the plan that continues the run.
func (g *Continuation) Tools() []plan.UsedTool { return g.plan.Tools() }

// Preview shows what continuing the run executes, including the steps whose results are kept. Errors are those of
// Plan.Preview.
func (g *Continuation) Preview() (*preview.Preview, error) {
	return (&Args{g.args, context.Background()}).Preview()
}

// PreviewFor is Preview for an Engine with that Config.Enforce. It also says what this machine enforces for the run.
func (g *Continuation) PreviewFor(e Enforcement) (*preview.Preview, error) {
	return (&Args{g.args, context.Background()}).PreviewFor(e, g.recorded.Record.Origin)
}
