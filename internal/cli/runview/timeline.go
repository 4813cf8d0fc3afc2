package runview

import (
	"cmp"
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// Summarize draws on stderr when each step of a run ran.
func Summarize(env *ui.Env, r *runresult.Result, p *engine.Plan) error {
	err := console.Timeline(env.Stderr, Bars(p, r.Steps), console.TimelineOptions{Width: env.StderrWidth(), Color: env.Colored(env.Stderr), ASCII: ui.ASCIILocale(), Now: r.Until()})
	if names := ArtifactNames(r); names != "" && err == nil {
		_, err = fmt.Fprintf(env.Stderr, "artifacts: %s\n", names)
	}
	return err
}

// Bars returns the steps of a run with their times. Reused results have no times, because their
// steps ran in another run.
func Bars(p *engine.Plan, steps []runresult.StepResult) []console.Bar {
	var list []console.Bar
	shown, notes := ShownSteps(steps, 0) // the critical path consists of loops, not of their items
	for _, s := range shown {
		b := console.Bar{ID: s.ID, Status: s.Status, After: p.Upstream(s.ID), Depth: len(dag.ID(s.ID).Ancestors()), Note: cmp.Or(notes[s.ID], usageNote(s.Usage))}
		if s.Status != dag.Reused {
			b.Started, b.Ended, b.Attempts = s.Started, cmp.Or(s.Ended, s.LastSign), s.Attempts
		}
		list = append(list, b)
	}
	return list
}
