package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/os/shellword"
)

func resumeCommand(env *ui.Env) *cobra.Command {
	var o engine.ResumeOptions
	var f runFlags
	c := &cobra.Command{
		Use:   "resume RUN [SECRET=value ...]",
		Short: "Continue a run that failed, was cancelled or was interrupted",
		Long: `Continue a run where it stopped. In a run that has ended, steps that failed or were
cancelled run again, and so do all steps downstream of them; the other steps keep their
results. A run that was interrupted continues, and what has ended in it stays as it ended.
Before anything starts, the command shows which steps will run.

If only an answer can carry the run on, a person at the terminal is asked; otherwise nothing
happens, and the command exits with 7 (see flowrun approve).

If a step was running when flowrun was killed, its on-interrupt key decides: retry runs it
again, fail treats it as failed, and ask asks you. ask is the default unless the tool is
idempotent or has the tag read. If nobody can be asked, the run stays interrupted and the
command exits with 7.

The run uses the definitions that it started with, and the current environment. Secret
parameters are not recorded, so give them again.`,
		Example: `  flowrun resume latest
  flowrun resume 1m80y --rerun-interrupted
  flowrun resume latest --workspace ~/new/place
  flowrun resume latest --dry-run`,
		Args: someRun,
		RunE: func(c *cobra.Command, args []string) error {
			return continueOrRetry(env, c, findrun.Resume, args, f, func(p *engine.RecordedRun, params map[string]any, yes bool) (*engine.Continuation, error) {
				o.Params, o.RerunAsked = params, yes
				g, err := p.Resume(env.Library(), o)
				var awaits *outcome.AwaitsAnswerError
				if errors.As(err, &awaits) && env.HasPerson() && !f.NoInput { // she is asked
					return p.Continue(env.Library(), o)
				}
				return g, err
			})
		},
		ValidArgsFunction: runview.CompleteRunID(env, findrun.Resume),
	}
	c.Flags().BoolVar(&o.RerunInterrupted, "rerun-interrupted", false, "run all interrupted steps again, regardless of on-interrupt")
	c.Flags().BoolVar(&o.Latest, "latest", false, "use the current definitions instead of the recorded ones")
	addWorkspaceFlag(c, &f)
	addRunFlags(c, &f)
	return c
}

func retryCommand(env *ui.Env) *cobra.Command {
	var o engine.RetryOptions
	var with []string
	var f runFlags
	c := &cobra.Command{
		Use:   "retry RUN [SECRET=value ...]",
		Short: "Start a new run that reuses the successful steps of an old one",
		Long: `Start a new run that reuses the results of an old one. Steps that failed run again, and
so do all steps downstream of them. Use --from to rerun a step that succeeded. If you
change a parameter, every step that uses it runs again. Before anything starts, the
command shows which steps will run.`,
		Example: `  flowrun retry latest
  flowrun retry latest --from build
  flowrun retry 1m80y --only deploy/upload --with REGION=eu`,
		Args: someRun,
		RunE: func(c *cobra.Command, args []string) error {
			if o.Only != "" && len(o.From) > 0 {
				return ui.Usagef(c, "--only and --from cannot be combined: --only runs one step, --from also runs the steps downstream of it")
			}
			return continueOrRetry(env, c, retryAct(c), append(args, with...), f, func(p *engine.RecordedRun, params map[string]any, _ bool) (*engine.Continuation, error) {
				o.With = params
				return p.Retry(env.Library(), o)
			})
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return runview.CompleteRunID(env, retryAct(c))(c, args, prefix)
		},
	}
	fl := c.Flags()
	fl.StringArrayVar(&o.From, "from", nil, "rerun this `step` and all steps downstream of it")
	fl.StringVar(&o.Only, "only", "", "run only this `step`")
	fl.StringArrayVar(&with, "with", nil, "change a parameter (`PARAM=value`)")
	steps := func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return runview.RunSteps(env, findrun.Rerun, args[0], prefix), cobra.ShellCompDirectiveNoFileComp
	}
	c.RegisterFlagCompletionFunc("from", steps)
	c.RegisterFlagCompletionFunc("only", steps)
	c.RegisterFlagCompletionFunc("with", complete.Parameters(env))
	addWorkspaceFlag(c, &f)
	addRunFlags(c, &f)
	return c
}

// retryAct returns which run a command line of retry can mean. Without a flag that makes steps run again,
// that is one in which something is left to run.
func retryAct(c *cobra.Command) findrun.Act {
	for _, flag := range []string{"from", "only", "with"} {
		if c.Flags().Changed(flag) {
			return findrun.Rerun
		}
	}
	return findrun.Retry
}

// addWorkspaceFlag adds the flag for a run of a project that has moved.
func addWorkspaceFlag(c *cobra.Command, f *runFlags) {
	c.Flags().StringVar(&f.workspace, "workspace", "", "the working directory of the run is now this `folder`, because its project has moved")
	c.MarkFlagDirname("workspace")
}

// someRun is the argument check of commands that take a run, and more.
func someRun(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return ui.Usagef(c, "missing argument: give the id of a run, a unique prefix of it, or %s", history.Latest)
	}
	return nil
}

// planner plans how to resume or retry a recorded run with parameters from the command line.
// yes allows the interrupted steps that need consent to run again.
type planner func(p *engine.RecordedRun, params map[string]any, yes bool) (*engine.Continuation, error)

// continueOrRetry resumes or retries a recorded run: it plans, shows the plan, asks for consent
// if needed, and executes the plan.
func continueOrRetry(env *ui.Env, c *cobra.Command, a findrun.Act, args []string, f runFlags, plan planner) error {
	if err := f.check(env, c); err != nil {
		return err
	}
	list, err := launch.ParseAssignments(c, args[1:])
	if err != nil {
		return err
	}
	if f.Settings, err = ui.RunSettings(env, f.InteractionFlags); err != nil {
		return err
	}
	return engines.Act(env, func(ctx context.Context, s history.Store, local ui.History) error {
		recorded, err := env.LoadRun(ctx, s, a, args[0])
		if err == nil && f.workspace != "" {
			recorded, err = recorded.InWorkspace(env.Library(), f.workspace)
		}
		if err != nil {
			return err
		}
		params, err := launch.CollectParams(env, recorded.Plan, engine.RunEnv{}, "", list)
		if err != nil {
			return err
		}
		return continueRecorded(ctx, env, local, recorded, params.Values, f, plan)
	})
}

// continueRecorded resumes or retries a run that has been loaded.
func continueRecorded(ctx context.Context, env *ui.Env, s ui.History, recorded *engine.RecordedRun, params map[string]any, f runFlags, plan planner) error {
	g, err := plan(recorded, params, false)
	if err != nil {
		return addLimitNote(recorded, err)
	}
	if g.Nothing() {
		reportLimit(env, recorded)
		if err := nothingToDo(env, recorded.Result(), f.output); err != nil || f.dryRun || g.Retry {
			return err
		}
		_, err := engine.New(engine.Config{Store: s}).Continue(ctx, g)
		return err
	}
	if ui.Verbose(f.Progress) || f.dryRun {
		describePlan(env, g, recorded, f)
	}
	what := launch.Subject{Tools: g.Tools(), Preview: func() (*preview.Preview, error) { return g.PreviewFor(launch.Enforcement(f.Settings)) }}
	if !g.Retry {
		what.Run = recorded.Record.ID
	}
	if f.dryRun {
		launch.PreviewDecision(env, what, f.ConsentFlags)
		return nil
	}
	if len(g.Asks) > 0 {
		if !ui.Verbose(f.Progress) || f.NoInput || !confirm(env, g) {
			return &outcome.InterruptedError{Run: recorded.Record.ID, Steps: g.Asks}
		}
		if g, err = plan(recorded, params, true); err != nil {
			return err
		}
	}
	if f.ID, err = launch.Consent(env, s, what, f.ConsentFlags); err != nil {
		return err
	}
	defer launch.ApplyRetention(ctx, env, s.Retention(), f.Settings)
	f.dir = recorded.Record.RunEnv.Workspace
	resumed := recorded
	if g.Retry {
		resumed = nil // a retry is a new run and reports the reused results itself
	}
	x := &execution{env: env, flags: f, plan: g.Plan(), resumed: resumed, store: s, start: func(ctx context.Context, e *engine.Engine, o ...engine.RunOption) (*runresult.Result, error) {
		return e.Continue(ctx, g, o...)
	}}
	return x.runAttempts()
}

// nothingToDo reports that a run has no steps left to run.
func nothingToDo(env *ui.Env, r *runresult.Result, form string) error {
	hint := ""
	if slices.ContainsFunc(r.Steps, func(s runresult.StepResult) bool { return s.Status == dag.Interrupted }) {
		hint = "; to run its interrupted steps again: flowrun resume " + r.ID + " --rerun-interrupted"
	}
	env.Notef("run %s has no steps left to run; it %s%s", r.ID, findrun.StatusText(r.Status, r.Notes...), hint)
	if form == "json" {
		return ui.WriteResult(env, r)
	}
	return nil
}

// describePlan shows which steps keep their results and which run. What waits for a step that is rejected is skipped
// or not as its own condition says, and on-failure handlers run only if a step fails, so these are not announced.
func describePlan(env *ui.Env, g *engine.Continuation, p *engine.RecordedRun, f runFlags) {
	verb, first := "Resuming", slices.DeleteFunc(slices.Clone(g.Left), func(path dag.ID) bool {
		key, _ := g.Plan().Handler(string(path))
		return key == "on-failure"
	})
	switch {
	case g.Retry:
		verb = "Retrying"
	case f.answered != "":
		verb = "Continuing"
	}
	if f.rejected {
		first = nil
	}
	r := p.Result()
	env.Notef("%s run %s of %s (it %s)", verb, p.Record.ID, p.Record.Tool, findrun.StatusText(r.Status, r.Notes...))
	reportLimit(env, p)
	for _, line := range []struct {
		text  string
		steps []dag.ID
	}{
		{"keeps its result", g.Kept},
		{"runs again", g.Reset},
		{"runs for the first time", first},
		{"waits for another answer", g.Held},
		{"is still waiting", slices.DeleteFunc(slices.Clone(g.Waiting), func(path dag.ID) bool { return path == f.answered })},
		{"may have been running when flowrun was killed", g.Asks},
		{"was running when flowrun was killed, and counts as failed (on-interrupt: fail)", g.Lost()},
	} {
		if len(line.steps) > 0 {
			env.Notef("  %s: %s", line.text, ui.Listed(line.steps))
		}
	}
	warnOfCleaned(env, g, p.Record.ID)
	if note := runview.ChangedNote(g.Plan().ChangedFiles(env.Library()), p.Record.ID); note != "" && f.answered == "" { // approve has said it
		env.Notef("  note: %s", note)
	}
}

// limitOf describes which steps a run was limited to, and the command that runs the others. Both are
// "" if the run was not limited.
func limitOf(p *engine.RecordedRun) (to, rest string) {
	switch r := p.Record; {
	case r.WithoutUpstream && r.RetryOf != "":
		return r.Only + " alone", "flowrun retry " + r.RetryOf
	case r.WithoutUpstream:
		return r.Only + " alone", "flowrun run " + shellword.Sh(r.Tool)
	case r.Only != "":
		return r.Only + " and its upstream steps", "flowrun run " + shellword.Sh(r.Tool) + ", without --until"
	}
	return "", ""
}

// reportLimit prints that the run was limited, because a resume or retry is limited in the same
// way.
func reportLimit(env *ui.Env, p *engine.RecordedRun) {
	if to, rest := limitOf(p); to != "" {
		env.Notef("  limited to %s, like run %s; to run the other steps: %s", to, p.Record.ID, rest)
	}
}

// addLimitNote extends the error for an unknown step: the step may be missing because the run was
// limited.
func addLimitNote(p *engine.RecordedRun, err error) error {
	var step *plan.StepError
	if to, rest := limitOf(p); to != "" && errors.As(err, &step) {
		return fmt.Errorf("%w; run %s was limited to %s; to run the other steps: %s", err, p.Record.ID, to, rest)
	}
	return err
}

// warnOfCleaned names the steps whose results are kept although a later step may have undone
// their work, in one line for each such later step.
func warnOfCleaned(env *ui.Env, g *engine.Continuation, run string) {
	for rest := g.Cleaned; len(rest) > 0; {
		by := rest[0].By
		var kept []dag.ID
		for len(rest) > 0 && rest[0].By == by {
			kept, rest = append(kept, rest[0].Step), rest[1:]
		}
		env.Notef("  note: %s has run after %s; if that undid their work, stop this and use flowrun retry %s --from %s", by, ui.Listed(kept), run, shellword.Sh(string(kept[0])))
	}
}

// confirm asks whether interrupted steps may run again. It returns false if there is no person to
// ask.
func confirm(env *ui.Env, g *engine.Continuation) bool {
	return env.HasPerson() && env.AskYesNo("run "+ui.Listed(g.Asks)+" again?", false)
}
