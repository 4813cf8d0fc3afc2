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

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/scaffold"
)

// demoCommand runs an example for users who have no tools yet.
func demoCommand(env *ui.Env) *cobra.Command {
	f := runFlags{output: "text"}
	var fail bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Watch a harmless example run that takes a few seconds",
		Long: `Run a simulated release with parallel steps, a loop, a step that is retried, a step with
a fallback, and a step whose condition is false. It takes a few seconds, needs no network
and leaves no files.

With --fail, a step fails. This run is recorded in the history like any other, so you can
inspect and retry it. The command then exits with 1.`,
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
	c.Flags().BoolVar(&fail, "fail", false, "make a step fail, and record the run so that you can inspect it")
	c.Flags().StringVar(&f.Progress, "progress", "auto", "how to show progress on stderr; `mode` is "+strings.Join(ui.ProgressModes(), "|"))
	c.RegisterFlagCompletionFunc("progress", cobra.FixedCompletions(ui.ProgressModes(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func demo(env *ui.Env, f runFlags, fail bool) error {
	if _, err := exec.LookPath("sh"); err != nil {
		return errors.New("cannot run the demo: its steps need sh, which is not on PATH; install it (on Windows, it comes with Git), or start with flowrun init")
	}
	if fail {
		return failingDemo(env, f)
	}
	dir, err := os.MkdirTemp("", "flowrun-demo-")
	if err != nil {
		return fmt.Errorf("cannot create a temporary folder: %w; set TMPDIR to a folder you can write to", err)
	}
	defer os.RemoveAll(dir)
	plan, res, err := runDemo(env, dir, nil, f, false)
	if err != nil || !ui.Verbose(f.Progress) {
		return err
	}
	return afterDemo(env, plan, res)
}

// failingDemo runs the demo with a step that fails. Its definition is kept in the state
// directory, so that the locations in messages exist.
func failingDemo(env *ui.Env, f runFlags) error {
	return env.WriteHistory(func(_ context.Context, s ui.History) error {
		plan, res, err := runDemo(env, engine.DefaultStateDir(), s, f, true)
		if res != nil && res.Status == dag.Failed && ui.Verbose(f.Progress) {
			afterFailure(env, res.ID, plan.Definition.File)
		}
		return err
	})
}

// runDemo runs the demo from a file in dir. res is nil if no run was started.
func runDemo(env *ui.Env, dir string, s ui.History, f runFlags, fail bool) (p *engine.Plan, res *runresult.Result, err error) {
	file := filepath.Join(dir, "demo.yaml")
	if err := os.WriteFile(file, scaffold.Demo(), 0o600); err != nil {
		return nil, nil, err
	}
	if p, err = ui.Compile(env, file); err != nil {
		return nil, nil, err
	}
	if f.Settings, err = ui.RunSettings(env, f.InteractionFlags); err != nil {
		return nil, nil, err
	}
	x := &execution{env: env, flags: f, plan: p, store: s, start: func(ctx context.Context, e *engine.Engine, o ...engine.RunOption) (*runresult.Result, error) {
		r, err := e.Run(ctx, p, map[string]any{"BREAK": fail}, o...)
		res = r
		return r, err
	}}
	err = x.run()
	return p, res, err
}

// afterDemo shows when each step ran, and which commands to try next.
func afterDemo(env *ui.Env, p *engine.Plan, r *runresult.Result) error {
	fmt.Fprintln(env.Stderr)
	if err := runview.Summarize(env, r, p); err != nil {
		return err
	}
	fmt.Fprint(env.Stderr, `
The step build took two attempts, and upload used its fallback, another mirror.
* marks the critical path. This run was not recorded. Next:
  flowrun demo --fail         make a step fail, find out why, and retry the run
  flowrun init                create tools of your own
`)
	return nil
}

// afterFailure shows the commands that inspect and continue a failed run.
func afterFailure(env *ui.Env, id, file string) {
	fmt.Fprintf(env.Stderr, `
This run is recorded in your history, like every run. Its definition is
%[2]s.
Next:
  flowrun show %[1]s          show which steps succeeded
  flowrun timeline %[1]s      show when each step ran
  flowrun retry %[1]s --with BREAK=false
                                      fix it: successful steps are reused
`, id, file)
}
