package runs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/internal/starter"
)

// demoCommand shows a run to somebody who has nothing to run yet.
func demoCommand(env *ui.Env) *cobra.Command {
	f := runFlags{output: "text"}
	var fail bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Watch a run of a few seconds that does nothing",
		Long: `Run a release that is only acted: parallel branches, a loop, a step that is tried
again, one with a fallback, one whose condition is false. It needs no network and a
few seconds, and leaves nothing behind.

With --fail a step breaks. That run is kept in the history like any other, so that you
can look at it and mend it; demo then exits 1.`,
		Example: `  flowrun demo
  flowrun demo --fail`,
		Args: ui.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(env, c); err != nil {
				return err
			}
			return demo(env, f, fail)
		},
	}
	c.Flags().BoolVar(&fail, "fail", false, "break a step, and keep the run to look at")
	c.Flags().StringVar(&f.Progress, "progress", "auto", "the narration on stderr, a `mode`: "+strings.Join(ui.ProgressModes(), "|"))
	c.RegisterFlagCompletionFunc("progress", cobra.FixedCompletions(ui.ProgressModes(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func demo(env *ui.Env, f runFlags, fail bool) error {
	if _, err := exec.LookPath("sh"); err != nil {
		return errors.New("the demo's steps are written for sh, and there is none in PATH; install one (on Windows, Git brings it), or begin with flowrun init")
	}
	if fail {
		return brokenDemo(env, f)
	}
	dir, err := os.MkdirTemp("", "flowrun-demo-")
	if err != nil {
		return fmt.Errorf("cannot make a temporary folder: %w; set TMPDIR to one you can write to", err)
	}
	defer os.RemoveAll(dir)
	plan, res, err := runDemo(env, dir, nil, f, false)
	if err != nil || !ui.Verbose(f.Progress) {
		return err
	}
	return afterDemo(env, plan, res)
}

// brokenDemo runs the demo with a step that fails. Its definition stays beside the
// history, so that what is told of the step leads somewhere.
func brokenDemo(env *ui.Env, f runFlags) error {
	return env.WriteHistory(func(_ context.Context, s *sqlite.Store) error {
		plan, res, err := runDemo(env, flowrun.DefaultStateDir(), s, f, true)
		if res != nil && res.Status == dag.Failed && ui.Verbose(f.Progress) {
			afterFailure(env, res.ID, plan.Definition.File)
		}
		return err
	})
}

// runDemo runs the demo from a file in dir. The result is nil where there was no run.
func runDemo(env *ui.Env, dir string, s *sqlite.Store, f runFlags, fail bool) (p *flowrun.Plan, res *flowrun.Result, err error) {
	file := filepath.Join(dir, "demo.yaml")
	if err := os.WriteFile(file, starter.Demo(), 0o600); err != nil {
		return nil, nil, err
	}
	if p, err = ui.Compile(env, file); err != nil {
		return nil, nil, err
	}
	if f.Settings, err = ui.Settings(env, f.Asking); err != nil {
		return nil, nil, err
	}
	x := &execution{env: env, flags: f, plan: p, store: s, start: func(ctx context.Context, e *flowrun.Engine, o ...flowrun.RunOption) (*flowrun.Result, error) {
		r, err := e.Run(ctx, p, map[string]any{"BREAK": fail}, o...)
		res = r
		return r, err
	}}
	err = x.run()
	return p, res, err
}

// afterDemo shows when each step ran, and where to go from here.
func afterDemo(env *ui.Env, p *flowrun.Plan, r *flowrun.Result) error {
	fmt.Fprintln(env.Stderr)
	if err := runview.Summarize(env, r, p); err != nil {
		return err
	}
	fmt.Fprint(env.Stderr, `
build was tried twice, upload fell back to another mirror, * marks what the
time was spent on. Nothing of this run is left. Next:
  flowrun demo --fail         break it: see what failed, and go on from there
  flowrun init                begin with tools of your own
`)
	return nil
}

// afterFailure shows what can be done with a failed run.
func afterFailure(env *ui.Env, id, file string) {
	fmt.Fprintf(env.Stderr, `
This run is in your history, as every run is. Its definition is
%[2]s.
Next:
  flowrun show %[1]s          which steps went well
  flowrun timeline %[1]s      when each ran
  flowrun retry %[1]s --with BREAK=false
                                      mend it: what went well is taken over
`, id, file)
}
