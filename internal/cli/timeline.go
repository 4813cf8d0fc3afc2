package cli

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/sqlite"
)

func (env *Env) timelineCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "timeline RUN",
		Short: "Draw when each step ran, and what the run waited for",
		Long: `Draw when each step of a run was at work. The chain of steps that determined how
long the run took, its critical path, is marked with a star.`,
		Example: "  flowrun timeline latest",
		Args:    oneRun,
		RunE: func(_ *cobra.Command, args []string) error {
			return env.reading(func(ctx context.Context, s *sqlite.Store) error {
				p, err := env.past(ctx, s, args[0])
				if err != nil {
					return err
				}
				return console.Timeline(env.Stdout, bars(p.Plan, p.Result().Steps), env.timelineOptions(p))
			})
		},
		ValidArgsFunction: env.completeRunID,
	}
}

func (env *Env) timelineOptions(p *flowrun.Past) console.TimelineOptions {
	o := console.TimelineOptions{Width: env.width(), Color: env.colored(env.Stdout), ASCII: plainLocale()}
	if p.Info.Live() {
		o.Now = time.Now()
	}
	return o
}

// summarize draws on stderr when each step of a run ran.
func (env *Env) summarize(r *flowrun.Result, p *flowrun.Plan) error {
	return console.Timeline(env.Stderr, bars(p, r.Steps), console.TimelineOptions{Width: env.errWidth(), Color: env.colored(env.Stderr), ASCII: plainLocale()})
}

// bars are the steps of a run with their times. What was taken over from another run
// took its time there.
func bars(p *flowrun.Plan, steps []flowrun.StepResult) []console.Bar {
	var list []console.Bar
	shown, notes := shownSteps(steps, 0) // the critical path is that of the loop
	for _, s := range shown {
		b := console.Bar{ID: s.ID, Status: s.Status, After: p.Upstream(s.ID), Depth: dag.ID(s.ID).Depth(), Note: notes[s.ID]}
		if s.Status != dag.Reused {
			b.Started, b.Ended, b.Attempts = s.Started, s.Ended, s.Attempts
		}
		list = append(list, b)
	}
	return list
}

// plainLocale says whether the terminal takes ASCII only.
func plainLocale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}

// state is the state of every step of a run, by path.
func state(r *flowrun.Result) map[string]flowrun.StepResult {
	m := make(map[string]flowrun.StepResult, len(r.Steps))
	for _, s := range r.Steps {
		m[withoutTries(s.ID)] = s
	}
	return m
}

// withoutTries is a path without the numbers of tries.
func withoutTries(path string) string { return string(dag.ID(path).WithoutTries()) }

// mark puts a run's states and durations into a drawing.
func mark(boxes []console.Box, states map[string]flowrun.StepResult, now time.Time) {
	for i := range boxes {
		b := &boxes[i]
		if s, ok := states[b.ID]; ok {
			b.Status = s.Status
			switch {
			case s.Status == dag.Running:
				b.Duration = now.Sub(s.Started)
			case !s.Started.IsZero() && !s.Ended.IsZero():
				b.Duration = s.Ended.Sub(s.Started)
			}
		}
		mark(b.Inside, states, now)
	}
}
