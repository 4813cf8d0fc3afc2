package command

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/runs"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

// runFlags are the flags of flowrun-temporal run.
type runFlags struct {
	connection
	launch.ConsentFlags
	params      string
	assign      []string
	maxParallel int
	until       string
	timeout     time.Duration
	output      string
	quiet       bool
	verbose     bool
	passThrough bool
	allowDash   bool
	detach      bool
	workspace   string
}

var runOutputs = []string{"text", "combined", "json"}

func runCommand(env *ui.Env) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run NAME|FILE [PARAM=value ...]",
		Short: "Run a tool on Temporal",
		Long: `Run a tool on Temporal, and wait for its end. The definition comes from this machine; the
steps run where the workers are.

Write parameters as NAME=text, NAME=@file (the content of the file) or NAME:=JSON, or
pass one JSON or YAML object with --params FILE. Secret parameters need
--encryption-keys, here and at the workers.

Ctrl-C cancels the run, and its cleanup still runs. A second Ctrl-C stops it at once.
With --detach, the command prints the id of the run and does not wait.`,
		Example: `  flowrun-temporal run deploy TARGET=eu
  flowrun-temporal run ./build.yaml --detach
  flowrun-temporal run report -o json | jq .steps`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return ui.Usagef(c, "missing argument: give the name of a tool, or a file")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return run(env, c, append(args, f.assign...), f) },
	}
	f.declare(c)
	fl := c.Flags()
	fl.StringArrayVarP(&f.assign, "param", "p", nil, "a parameter, `NAME=value`; the same as an argument")
	fl.StringVar(&f.params, "params", "", "read parameters from this JSON or YAML `file`; - is stdin")
	fl.IntVar(&f.maxParallel, "max-parallel", 0, "run at most `n` steps of this run at once (default: 2 for each CPU, at least 4)")
	fl.StringVar(&f.until, "until", "", "run only this `step` and its upstream steps")
	ui.DurationFlag(c, &f.timeout, "timeout", 0, "cancel the run after this `time` (90s, 2h, 1d); a shorter timeout of the tool still applies")
	fl.StringVar(&f.workspace, "workspace", "", "start steps in this `folder` of the workers (default: the working directory of the worker)")
	fl.StringVar(&f.Progress, "progress", "auto", "how to show progress on stderr; `mode` is "+strings.Join(ui.ProgressModes(), "|"))
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "show only problems on stderr; the same as --progress quiet")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print progress as lines, with the location and the command of each step that starts")
	fl.StringVarP(&f.output, "output", "o", "text", "the `form` of the result on stdout: text (the tool's output), combined (the output of every step) or json")
	fl.BoolVarP(&f.passThrough, "exit-code", "x", false, "exit with the exit code of the failed step")
	fl.BoolVar(&f.allowDash, "allow-dash", false, "allow values that begin with a dash, even where a command may read them as options")
	fl.BoolVar(&f.detach, "detach", false, "print the id of the run, and do not wait for its end")
	fl.BoolVar(&f.NoInput, "no-input", false, "ask no questions")
	f.ConsentFlags.Declare(c)
	return c
}

func (f *runFlags) check(env *ui.Env, c *cobra.Command) (err error) {
	if f.quiet {
		f.Progress = "quiet"
	}
	c.Flags().Lookup("progress").Changed = c.Flags().Changed("progress") || f.quiet || f.verbose
	if err := env.ResolveProgress(c, &f.InteractionFlags); err != nil {
		return err
	}
	if f.verbose && f.Progress != "github" {
		f.Progress = "plain"
	}
	env.TrustOnce(f.TrustProject)
	if err := ui.OneOf(c, "output", f.output, runOutputs); err != nil {
		return err
	}
	if f.maxParallel < 0 || c.Flags().Changed("max-parallel") && f.maxParallel == 0 {
		return ui.Usagef(c, "--max-parallel must be at least 1")
	}
	if c.Flags().Changed("allow-unenforced") {
		return ui.Usagef(c, "--allow-unenforced is not possible on Temporal: a worker refuses steps whose permissions it cannot enforce")
	}
	if err := f.ConsentFlags.Check(c); err != nil {
		return err
	}
	f.Settings, err = ui.RunSettings(env, f.InteractionFlags)
	return err
}

func run(env *ui.Env, c *cobra.Command, args []string, f runFlags) error {
	if err := f.check(env, c); err != nil {
		return err
	}
	plan, in, err := f.input(env, c, args)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	signals := env.Signals(stop)
	defer signals.Stop()
	l, err := f.dial(ctx, env)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.checkStore(ctx); err != nil {
		return err
	}
	folder, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("cannot find the working directory: %w", err)
	}
	flow, err := l.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: in.Record.ID, TaskQueue: l.queue,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, StaticSummary: plan.Name(), Memo: in.Memo(folder)}, interpreter.WorkflowType, in)
	if err != nil {
		return ui.ServiceErrorf("cannot start the run: %w", err)
	}
	if f.detach {
		_, err := fmt.Fprintln(env.Stdout, in.Record.ID)
		return err
	}
	follow := &follower{env: env, link: l, flow: flow, input: in, plan: plan, signals: signals, force: signals.Force}
	narrator := runview.Narrate(env, runview.Narration{Mode: f.Progress, Plan: plan, Verbose: f.verbose})
	follow.sinks, follow.queued = narrator.Sinks, narrator.Queued
	res, err := follow.run(ctx)
	narrator.End()
	if err != nil {
		return err
	}
	return f.finish(env, follow, res)
}

// input compiles the tool, binds the parameters, asks for consent, and returns the input of the
// workflow.
func (f *runFlags) input(env *ui.Env, c *cobra.Command, args []string) (*engine.Plan, *interpreter.Input, error) {
	list, err := launch.ParseAssignments(c, args[1:])
	if err != nil {
		return nil, nil, err
	}
	plan, err := ui.Compile(env, args[0])
	if err != nil {
		return nil, nil, err
	}
	if f.until != "" {
		if plan, err = plan.Until(f.until); err != nil {
			return nil, nil, err
		}
	}
	if f.timeout > 0 {
		if plan, err = plan.WithTimeout(f.timeout); err != nil {
			return nil, nil, err
		}
	}
	w := engine.RunEnv{AllowDash: f.allowDash, JavaScript: env.JavaScript()}
	given, err := launch.CollectParams(env, plan, w, f.params, list)
	if err != nil {
		return nil, nil, err
	}
	bound, err := plan.Bind(w, given.Values)
	if err != nil {
		return nil, nil, given.Locate(err)
	}
	if err := checkPlan(plan, f.Settings.Pools()); err != nil {
		return nil, nil, err
	}
	enforce := launch.Enforcement(f.Settings)
	what := launch.Subject{Tools: plan.Tools(), Preview: func() (*preview.Preview, error) { return bound.PreviewFor(enforce, "") }, Unrecorded: true}
	if _, err := launch.Consent(env, nil, what, f.ConsentFlags); err != nil {
		return nil, nil, err
	}
	record, err := bound.Record(history.NewID(time.Now()), "", enforce)
	if err != nil {
		return nil, nil, err
	}
	record.RunEnv.Workspace, record.RunEnv.Home, record.RunEnv.Temp = f.workspace, "", "" // those of the worker
	in := interpreter.NewInput(record, interpreter.Options{Parallel: cmp.Or(f.maxParallel, int(f.Settings.Number("limits.max-parallel")), dag.DefaultParallel()),
		Cleanup: f.Settings.Duration("limits.cleanup"), Pools: usedPools(plan, f.Settings.Pools())})
	return plan, in, f.addSecrets(plan, in, given.Values)
}

// addSecrets completes the input of a run with what is secret, if the input is encrypted.
func (f *runFlags) addSecrets(plan *engine.Plan, in *interpreter.Input, given map[string]any) error {
	r := in.Record
	for i, s := range plan.Sources() {
		if r.Sources[i].Original == "" {
			continue
		}
		if f.keys == "" {
			return refused(r.Tool, cmp.Or(s.File, s.Name)+" contains a secret, which everybody with access to the service could read; encrypt with --encryption-keys, or fetch the secret with a source in environment.secrets")
		}
		r.Sources[i], in.Sources[i] = s, s.Text
	}
	if len(r.Withheld) > 0 && f.keys == "" {
		return refused(r.Tool, "everybody with access to the service could read the secret parameter "+r.Withheld[0]+"; encrypt with --encryption-keys, or let the workers fetch it with a source in environment.secrets")
	}
	for _, name := range r.Withheld {
		if in.Params == nil {
			in.Params = map[string]any{}
		}
		in.Params[name] = given[name]
	}
	return nil
}

// finish prints the result, and returns the exit code as an error.
func (f *runFlags) finish(env *ui.Env, w *follower, res *runresult.Result) error {
	err := runs.PrintResult(env, res, f.output)
	if f.output == "text" {
		err = w.printOutput(env.Stdout)
	}
	if err != nil {
		return err
	}
	if ui.Verbose(f.Progress) || f.Progress == "quiet" && res.Status != dag.Succeeded {
		runs.PrintOutcome(env, res, w.plan, true)
	}
	if code := w.signals.Code(); code != 0 && res.Status == dag.Cancelled {
		return ui.CodeError(code)
	}
	if code := ui.ExitCode(res, f.passThrough); code != 0 {
		return ui.CodeError(code)
	}
	return nil
}
