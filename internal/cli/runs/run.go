package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/keyboard"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/internal/telemetry"
)

// runFlags are the flags of flowrun run.
type runFlags struct {
	params      string
	maxParallel int
	dryRun      bool
	until       string
	output      string
	passThrough bool
	allowDash   bool
	noHistory   bool
	metrics     launch.MetricsFlags
	force       bool
	summary     bool
	watch       bool
	watchPaths  []string
	detach      bool
	dir         string // where notices count from; "" is the working directory

	retries  *flowrun.Past // the run that this one tries again
	answered dag.ID        // the step whose answer the run goes on with

	launch.ConsentFlags
}

func runCommand(env *ui.Env) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run NAME|FILE [PARAM=value ...]",
		Short: "Run a tool",
		Long: `Run a tool by name, or a definition by path (anything with a slash, or ending
in .yaml, .yml or .json).

Parameters: NAME=text, NAME=@file (the file's content), NAME:=JSON, and
--params FILE with one JSON object. Repeat NAME=text for arrays.

The run's output goes to stdout, everything else to stderr: what happens, and with
their names the lines of steps that say output.mode: stream (not under
--progress json, where stderr holds events alone).

An interactive step that asks has the terminal to itself, Ctrl-C included; three of
these within a second stop the run. Without a terminal, or with --no-input, its
default response is taken.`,
		Example: `  flowrun run weather LOCATION=Rome
  flowrun run ./build.yaml TAGS=a TAGS=b --max-parallel 4
  flowrun run deploy --params staging.json --dry-run
  flowrun run report -o json | jq .steps`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return ui.Usagef(c, "which tool? Give a name or a file")
			}
			return nil
		},
		RunE:              func(c *cobra.Command, args []string) error { return run(env, c, args, f) },
		ValidArgsFunction: env.CompleteRun,
	}
	fl := c.Flags()
	fl.StringVar(&f.params, "params", "", "read parameters from this JSON `file`; - is stdin")
	fl.StringVar(&f.until, "until", "", "run only this `step` and what it waits for")
	fl.BoolVar(&f.allowDash, "allow-dash", false, "let values begin with a dash, where they could be read as options")
	fl.BoolVar(&f.noHistory, "no-history", false, "keep no record of the run: nothing is written, no cache is used, and it cannot be resumed")
	fl.BoolVar(&f.detach, "detach", false, "hand the run over to the service (flowrun serve), and print its id")
	fl.BoolVarP(&f.watch, "watch", "w", false, "run again when the definitions, or files that caches depend on, change")
	fl.StringArrayVar(&f.watchPaths, "watch-path", nil, "files that --watch watches too, as a `pattern`: src/**/*.go")
	c.RegisterFlagCompletionFunc("until", env.CompleteStep)
	runningFlags(env, c, &f)
	return c
}

// runningFlags are the flags of every command that runs something.
func runningFlags(env *ui.Env, c *cobra.Command, f *runFlags) {
	fl := c.Flags()
	fl.IntVar(&f.maxParallel, "max-parallel", 0, "run at most `n` steps at once (default: 2 for each CPU, at least 4)")
	fl.BoolVar(&f.force, "force", false, "run steps whatever results are in the cache; new ones are kept")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show what would run, and start nothing")
	fl.StringVar(&f.Progress, "progress", "auto", "the narration on stderr, a `mode`: "+strings.Join(ui.ProgressModes, "|"))
	fl.BoolVar(&f.summary, "summary", false, "show in the end when each step ran, and which of them made the run take so long")
	fl.StringVarP(&f.output, "output", "o", "text", "the result on stdout, a `form`: text|combined|json")
	fl.BoolVar(&f.NoInput, "no-input", false, "ask nobody: interactive steps get their default response")
	fl.BoolVarP(&f.passThrough, "exit-code", "x", false, "exit with the failed step's own exit code")
	fl.StringVar(&f.metrics.File, "metrics-file", "", "write the run's metrics to this `file`, for node_exporter's textfile collector")
	fl.StringVar(&f.metrics.Addr, "metrics-addr", "", "serve the run's metrics at `HOST:PORT`/metrics while it lasts; :PORT is this machine only")
	f.ConsentFlags.Declare(c)
	c.RegisterFlagCompletionFunc("progress", cobra.FixedCompletions(ui.ProgressModes, cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(runOutputs, cobra.ShellCompDirectiveNoFileComp))
}

// check holds the flags against what they may be, and settles what is left open.
func (f *runFlags) check(env *ui.Env, c *cobra.Command) error {
	if err := env.ResolveProgress(c, &f.Asking); err != nil {
		return err
	}
	env.TrustOnce = f.TrustProject
	if err := ui.OneOf(c, "output", f.output, runOutputs); err != nil {
		return err
	}
	if f.maxParallel < 0 || c.Flags().Changed("max-parallel") && f.maxParallel == 0 {
		return ui.Usagef(c, "--max-parallel must be at least 1")
	}
	return f.ConsentFlags.Check(c)
}

var runOutputs = []string{"text", "combined", "json"}

func run(env *ui.Env, c *cobra.Command, args []string, f runFlags) error {
	if err := f.check(env, c); err != nil {
		return err
	}
	if len(f.watchPaths) > 0 && !f.watch {
		return ui.Usagef(c, "--watch-path says what --watch watches; give --watch too")
	}
	if f.detach && !f.dryRun {
		return detach(env, c, args, f)
	}
	if f.watch {
		return watchRun(env, c, args, f)
	}
	plan, world, params, err := prepare(env, c, args, f, nil)
	if err != nil {
		return notRun(env, args[0], f, err)
	}
	return notRun(env, args[0], f, perform(env, plan, world, params, f))
}

// notRun answers why a tool was not run; that of a Markdown tool stands in a document,
// too, where one was asked for (S0-081).
func notRun(env *ui.Env, name string, f runFlags, why error) error {
	if why == nil || f.output != "json" {
		return why
	}
	def, _, err := env.Library().Lookup(name, nil)
	if err != nil {
		return why
	}
	if res := flowrun.NotRun(def, why); res != nil {
		return cmp.Or(print(env, res, f.output), why)
	}
	return why
}

// prepare finds what is to run, and what with. answers are values of parameters that a
// person has given before.
func prepare(env *ui.Env, c *cobra.Command, args []string, f runFlags, answers map[string]any) (*flowrun.Plan, flowrun.World, map[string]any, error) {
	world := flowrun.World{AllowDash: f.allowDash, JavaScript: env.JavaScript()}
	list, err := launch.Assignments(c, args[1:])
	if err != nil {
		return nil, world, nil, err
	}
	plan, err := ui.Compile(env, args[0])
	if env.TrustAsked(err, f.Asking) {
		plan, err = ui.Compile(env, args[0])
	}
	if err != nil {
		return nil, world, nil, err
	}
	if f.until != "" {
		if plan, err = plan.Until(f.until); err != nil {
			return nil, world, nil, err
		}
	}
	params, err := launch.Params(env, plan, world, f.params, list)
	if err != nil {
		return nil, world, nil, err
	}
	for _, m := range launch.Problems(plan, world, params).Problems {
		if v, ok := answers[m.Name]; ok && m.Code == "missing" {
			params[m.Name] = v
		}
	}
	if ui.Verbose(f.Progress) {
		warn(env, plan, params)
	}
	if f.params == "-" { // stdin has been read
		return plan, world, params, nil
	}
	return plan, world, params, launch.AskMissing(env, plan, world, params, f.Asking)
}

// perform runs it, or shows what would run.
func perform(env *ui.Env, plan *flowrun.Plan, world flowrun.World, params map[string]any, f runFlags) (err error) {
	if f.Settings, err = ui.Settings(env, f.Asking); err != nil {
		return err
	}
	what := launch.Subject{Tools: plan.Tools(), Preview: func() (*flowrun.Preview, error) { return plan.Preview(world, params) }}
	if f.dryRun {
		launch.PreviewDecision(env, what, f.ConsentFlags)
		return dryRun(env, plan, world, params, f)
	}
	if !f.noHistory {
		f.noHistory = env.HistoryUnavailable(f.Asking)
	}
	what.Unrecorded = f.noHistory
	if f.ID, err = launch.Consent(env, nil, what, f.ConsentFlags); err != nil {
		return err
	}
	return execute(env, plan, world, params, f)
}

// warn tells what is wrong without being an error, the deprecated included.
func warn(env *ui.Env, p *flowrun.Plan, params map[string]any) {
	if len(p.Warnings) > 0 {
		env.Diagnose(p.Warnings)
	}
	if d := p.Definition; d.Deprecated {
		env.Notef("tool %s is deprecated%s", d.Name, ui.Colon(console.Harmless(d.DeprecatedMessage)))
	}
	for _, d := range p.Definition.Parameters {
		if _, given := params[d.Name]; given && d.Deprecated {
			use := ""
			if d.DeprecatedAlternative != "" {
				use = "; use " + console.Harmless(d.DeprecatedAlternative)
			}
			env.Notef("parameter %s is deprecated%s", d.Name, use)
		}
	}
}

// execute runs the plan.
func execute(env *ui.Env, plan *flowrun.Plan, world flowrun.World, params map[string]any, f runFlags) error {
	run := func(ctx context.Context, e *flowrun.Engine, o ...flowrun.RunOption) (*flowrun.Result, error) {
		return e.Run(ctx, plan, params, append(o, flowrun.WithWorld(world))...)
	}
	if f.noHistory {
		return carryOut(env, nil, plan, nil, f, run)
	}
	return env.WriteHistory(func(ctx context.Context, s *sqlite.Store) error {
		defer launch.Retain(env, ctx, s, f.Settings)
		return carryOut(env, nil, plan, s, f, run)
	})
}

// carryOut runs something on an engine, and prints the result. past is the run that goes
// on, nil for a new one.
func carryOut(env *ui.Env, past *flowrun.Past, plan *flowrun.Plan, s *sqlite.Store, f runFlags,
	run func(context.Context, *flowrun.Engine, ...flowrun.RunOption) (*flowrun.Result, error)) error {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	sig := env.Signals(stop)
	defer sig.Stop()

	config, tidy, err := launch.EngineConfig(s, f.ConsentFlags, f.maxParallel)
	if err != nil {
		return err
	}
	defer tidy()
	config.JavaScript = env.JavaScript()
	traces, err := launch.NewTraces(func(string) telemetry.About { return launch.AboutRun(plan, past, f.retries, launch.Inherited()) })
	if err != nil && ui.Verbose(f.Progress) {
		env.Notef("traces are not sent: %v", err)
	}
	traces.Join(&config)
	defer func() {
		if err := traces.End(ctx, sig.Force); err != nil && ui.Verbose(f.Progress) {
			env.Notef("the trace is not complete: %v", err)
		}
	}()
	options := []flowrun.RunOption{flowrun.WithForce(sig.Force), flowrun.WithTrace(launch.Inherited())}
	if f.ID != "" {
		options = append(options, flowrun.WithID(f.ID))
	}
	if f.force {
		options = append(options, flowrun.WithoutCache())
	}
	keys := keyboard.Open(env, f.NoInput)
	defer keys.Release() // should a step not have come to it
	if keys != nil {
		options = append(options, flowrun.WithTerminal(keys))
		if ask := person(env, keys, f.Asking); ask != nil {
			options = append(options, flowrun.WithApproval(ask))
		}
		defer func(w io.Writer) { env.Stderr = w }(env.Stderr)
		env.Stderr = keys.Screen(env.Stderr)
	}
	told := runview.Narrate(env, runview.Narration{Mode: f.Progress, Plan: plan, Past: past, Keys: keys, Recorded: s != nil, StateDir: config.StateDir})
	defer told.End()
	options = append(options, told.Options...)
	options = append(options, flowrun.WithQueue(told.Queued))
	out := &breaking{w: told.Stdout, stop: stop}
	if f.output == "text" {
		options = append(options, flowrun.WithStdout(out))
	}
	engine, done, err := launch.NewEngine(env, config, plan, f.metrics)
	if err != nil {
		return err
	}
	res, err := run(ctx, engine, options...)
	done()
	told.End()
	if ui.IsTerminal(env.Stdout) {
		out.line()
	}
	if res == nil {
		if code := sig.Code(); code != 0 && ctx.Err() != nil { // before the first step
			if ui.Verbose(f.Progress) {
				env.Notef("%v", err)
			}
			return ui.CodeError(code)
		}
		return err
	}
	if !f.watch { // who watches sees how it ends
		defer func() {
			launch.Notify(env, ctx, sig, s, launch.RunEnd{Result: res, Plan: plan, Past: past, Err: err}, f.ConsentFlags, f.dir)
		}()
	}
	if err := cmp.Or(err, out.err, print(env, res, f.output)); err != nil {
		if s != nil && res.Status == dag.Interrupted && ui.Verbose(f.Progress) {
			env.Notef("run %s is interrupted; flowrun resume %s goes on with it", res.ID, res.ID)
		}
		return err
	}
	if err := conclude(env, res, plan, f, s != nil); err != nil {
		return err
	}
	if code := sig.Code(); code != 0 && res.Status == dag.Cancelled {
		return ui.CodeError(code)
	}
	if code := ui.ExitCode(res, f.passThrough); code != 0 {
		return ui.CodeError(code)
	}
	return nil
}

// conclude tells how a run ended, in the ways that the flags ask for.
func conclude(env *ui.Env, res *flowrun.Result, plan *flowrun.Plan, f runFlags, recorded bool) error {
	if ui.Verbose(f.Progress) || f.Progress == "quiet" && res.Status != dag.Succeeded {
		closing(env, res, recorded)
	}
	if f.Progress == "github" {
		if err := runview.WriteJobSummary(env, res, plan); err != nil {
			env.Notef("%v", err) // the run is none the worse
		}
	}
	if f.summary {
		return runview.Summarize(env, res, plan)
	}
	return nil
}

// print writes the result to stdout; the text form went there during the run.
func print(env *ui.Env, res *flowrun.Result, form string) error {
	switch form {
	case "json":
		enc := json.NewEncoder(env.Stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(res)
	case "combined":
		out := ui.OnScreen(env.Stdout)
		for i := range res.Steps {
			if err := combined(out, &res.Steps[i]); err != nil {
				return err
			}
		}
		return ui.Flush(out)
	}
	return nil
}

// combined writes one step's section of -o combined.
func combined(w io.Writer, s *flowrun.StepResult) error {
	if !s.Status.Executed() {
		return nil
	}
	if _, err := fmt.Fprintf(w, "--- %s: %s ---\n", s.ID, s.Status); err != nil {
		return err
	}
	for _, stream := range []struct{ file, text string }{{s.StdoutFile, s.Output}, {s.StderrFile, s.Error}} {
		if stream.file == "" {
			if _, err := io.WriteString(w, stream.text); err != nil {
				return err
			}
			continue
		}
		f, err := os.Open(stream.file)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, f)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// closing says in a line how the run ended, where that is worth a line.
func closing(env *ui.Env, res *flowrun.Result, recorded bool) {
	for _, n := range res.Notices {
		env.Notef("%s", n.Message)
	}
	detail := res.Message
	if res.Status == dag.Succeeded {
		if len(res.Notes) == 0 {
			return
		}
		detail = cmp.Or(detail, ui.Listed(res.Tolerated))
	}
	env.Notef("run %s %s%s", res.ID, res.Status.With(res.Notes...), ui.Colon(detail))
	if recorded && (res.Status != dag.Succeeded || res.Reason == flowrun.ReasonCleanup) {
		runview.SuggestNext(env, res)
	}
}

// breaking stops the run when its output cannot be written, as when its reader
// has gone away, and keeps the reason.
type breaking struct {
	w    io.Writer
	stop context.CancelCauseFunc
	err  error // valid when the run has ended
	last byte  // that was written; likewise
}

func (b *breaking) Write(p []byte) (int, error) {
	n, err := b.w.Write(p)
	if err != nil {
		b.err = fmt.Errorf("cannot write the run's output: %w", err)
		b.stop(b.err)
	}
	if n > 0 {
		b.last = p[n-1]
	}
	return n, err
}

// line ends the last line, which programs leave open that print a value alone: on a
// terminal what comes next would stand behind it.
func (b *breaking) line() {
	if b.last != 0 && b.last != '\n' {
		b.Write([]byte("\n"))
	}
}
