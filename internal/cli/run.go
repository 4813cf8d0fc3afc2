package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/netclient"
	"github.com/flowrun/flowrun/internal/proc"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/internal/telemetry"
)

// runFlags are the flags of flowrun run.
type runFlags struct {
	params      string
	maxParallel int
	dryRun      bool
	until       string
	progress    string
	output      string
	passThrough bool
	allowDash   bool
	noHistory   bool
	metricsFile string
	metricsAddr string
	force       bool
	noInput     bool
	summary     bool
	watch       bool
	watchPaths  []string
	detach      bool
	dir         string // where notices count from; "" is the working directory

	retries  *flowrun.Past // the run that this one tries again
	answered dag.ID        // the step whose answer the run goes on with

	consentFlags
}

func (a *app) runCommand() *cobra.Command {
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
				return usagef(c, "which tool? Give a name or a file")
			}
			return nil
		},
		RunE:              func(c *cobra.Command, args []string) error { return a.run(c, args, f) },
		ValidArgsFunction: a.completeRun,
	}
	fl := c.Flags()
	fl.StringVar(&f.params, "params", "", "read parameters from this JSON `file`; - is stdin")
	fl.StringVar(&f.until, "until", "", "run only this `step` and what it waits for")
	fl.BoolVar(&f.allowDash, "allow-dash", false, "let values begin with a dash, where they could be read as options")
	fl.BoolVar(&f.noHistory, "no-history", false, "keep no record of the run: nothing is written, no cache is used, and it cannot be resumed")
	fl.BoolVar(&f.detach, "detach", false, "hand the run over to the service (flowrun serve), and print its id")
	fl.BoolVarP(&f.watch, "watch", "w", false, "run again when the definitions, or files that caches depend on, change")
	fl.StringArrayVar(&f.watchPaths, "watch-path", nil, "files that --watch watches too, as a `pattern`: src/**/*.go")
	c.RegisterFlagCompletionFunc("until", a.completeStep)
	a.runningFlags(c, &f)
	return c
}

// runningFlags are the flags of every command that runs something.
func (a *app) runningFlags(c *cobra.Command, f *runFlags) {
	fl := c.Flags()
	fl.IntVar(&f.maxParallel, "max-parallel", 0, "run at most `n` steps at once (default: 2 for each CPU, at least 4)")
	fl.BoolVar(&f.force, "force", false, "run steps whatever results are in the cache; new ones are kept")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show what would run, and start nothing")
	fl.StringVar(&f.progress, "progress", "auto", "the narration on stderr, a `mode`: "+strings.Join(progressModes, "|"))
	fl.BoolVar(&f.summary, "summary", false, "show in the end when each step ran, and which of them made the run take so long")
	fl.StringVarP(&f.output, "output", "o", "text", "the result on stdout, a `form`: text|combined|json")
	fl.BoolVar(&f.noInput, "no-input", false, "ask nobody: interactive steps get their default response")
	fl.BoolVarP(&f.passThrough, "exit-code", "x", false, "exit with the failed step's own exit code")
	fl.StringVar(&f.metricsFile, "metrics-file", "", "write the run's metrics to this `file`, for node_exporter's textfile collector")
	fl.StringVar(&f.metricsAddr, "metrics-addr", "", "serve the run's metrics at `HOST:PORT`/metrics while it lasts; :PORT is this machine only")
	f.consentFlags.declare(c)
	c.RegisterFlagCompletionFunc("progress", cobra.FixedCompletions(progressModes, cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(runOutputs, cobra.ShellCompDirectiveNoFileComp))
}

// check holds the flags against what they may be, and settles what is left open.
func (f *runFlags) check(a *app, c *cobra.Command) error {
	if err := a.settle(c, f); err != nil {
		return err
	}
	a.trustOnce = f.trustProject
	if err := oneOf(c, "output", f.output, runOutputs); err != nil {
		return err
	}
	if f.maxParallel < 0 || c.Flags().Changed("max-parallel") && f.maxParallel == 0 {
		return usagef(c, "--max-parallel must be at least 1")
	}
	return f.consentFlags.check(c)
}

var (
	progressModes = []string{"auto", "tty", "plain", "json", "github", "quiet", "none"}
	runOutputs    = []string{"text", "combined", "json"}
)

func (a *app) run(c *cobra.Command, args []string, f runFlags) error {
	if err := f.check(a, c); err != nil {
		return err
	}
	if len(f.watchPaths) > 0 && !f.watch {
		return usagef(c, "--watch-path says what --watch watches; give --watch too")
	}
	if f.detach && !f.dryRun {
		return a.detach(c, args, f)
	}
	if f.watch {
		return a.watchRun(c, args, f)
	}
	plan, world, params, err := a.prepare(c, args, f, nil)
	if err != nil {
		return a.notRun(args[0], f, err)
	}
	return a.notRun(args[0], f, a.perform(plan, world, params, f))
}

// notRun answers why a tool was not run; that of a Markdown tool stands in a document,
// too, where one was asked for (S0-081).
func (a *app) notRun(name string, f runFlags, why error) error {
	if why == nil || f.output != "json" {
		return why
	}
	def, _, err := a.library().Lookup(name, nil)
	if err != nil {
		return why
	}
	if res := flowrun.NotRun(def, why); res != nil {
		return cmp.Or(a.print(res, f.output), why)
	}
	return why
}

// prepare finds what is to run, and what with. answers are values of parameters that a
// person has given before.
func (a *app) prepare(c *cobra.Command, args []string, f runFlags, answers map[string]any) (*flowrun.Plan, flowrun.World, map[string]any, error) {
	world := flowrun.World{AllowDash: f.allowDash, JavaScript: a.javaScript()}
	list, err := assignments(c, args[1:])
	if err != nil {
		return nil, world, nil, err
	}
	plan, err := a.compile(args[0])
	if a.nowTrusted(err, f) {
		plan, err = a.compile(args[0])
	}
	if err != nil {
		return nil, world, nil, err
	}
	if f.until != "" {
		if plan, err = plan.Until(f.until); err != nil {
			return nil, world, nil, err
		}
	}
	params, err := a.params(plan, world, f.params, list)
	if err != nil {
		return nil, world, nil, err
	}
	for _, m := range problems(plan, world, params).Problems {
		if v, ok := answers[m.Name]; ok && m.Code == "missing" {
			params[m.Name] = v
		}
	}
	if speaks(f.progress) {
		a.warn(plan, params)
	}
	return plan, world, params, a.askMissing(plan, world, params, f)
}

// perform runs it, or shows what would run.
func (a *app) perform(plan *flowrun.Plan, world flowrun.World, params map[string]any, f runFlags) (err error) {
	if f.settings, err = a.settings(f); err != nil {
		return err
	}
	what := subject{tools: plan.Tools(), preview: func() (*flowrun.Preview, error) { return plan.Preview(world, params) }}
	if f.dryRun {
		a.foresee(what, f)
		return a.dryRun(plan, world, params, f)
	}
	if !f.noHistory {
		f.noHistory = a.withoutPlace(f)
	}
	if f.id, err = a.consent(nil, what, f); err != nil {
		return err
	}
	return a.execute(plan, world, params, f)
}

func oneOf(c *cobra.Command, flag, value string, allowed []string) error {
	for _, w := range allowed {
		if value == w {
			return nil
		}
	}
	return usagef(c, "--%s %q is not one of %s", flag, value, strings.Join(allowed, ", "))
}

// compile finds and compiles a tool.
func (a *app) compile(name string) (*flowrun.Plan, error) {
	p, err := flowrun.Compile(a.library(), name)
	return p, named(err)
}

// warn tells what is wrong without being an error, the deprecated included.
func (a *app) warn(p *flowrun.Plan, params map[string]any) {
	if len(p.Warnings) > 0 {
		a.diagnose(p.Warnings)
	}
	if d := p.Definition; d.Deprecated {
		a.say("tool %s is deprecated%s", d.Name, colon(console.Harmless(d.DeprecatedMessage)))
	}
	for _, d := range p.Definition.Parameters {
		if _, given := params[d.Name]; given && d.Deprecated {
			use := ""
			if d.DeprecatedAlternative != "" {
				use = "; use " + console.Harmless(d.DeprecatedAlternative)
			}
			a.say("parameter %s is deprecated%s", d.Name, use)
		}
	}
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// execute runs the plan.
func (a *app) execute(plan *flowrun.Plan, world flowrun.World, params map[string]any, f runFlags) error {
	run := func(ctx context.Context, e *flowrun.Engine, o ...flowrun.RunOption) (*flowrun.Result, error) {
		return e.Run(ctx, plan, params, append(o, flowrun.WithWorld(world))...)
	}
	if f.noHistory {
		return a.carryOut(nil, plan, nil, f, run)
	}
	return a.writing(func(ctx context.Context, s *sqlite.Store) error {
		defer a.retain(ctx, s, f.settings)
		return a.carryOut(nil, plan, s, f, run)
	})
}

// carryOut runs something on an engine, and prints the result. past is the run that goes
// on, nil for a new one.
func (a *app) carryOut(past *flowrun.Past, plan *flowrun.Plan, s *sqlite.Store, f runFlags,
	run func(context.Context, *flowrun.Engine, ...flowrun.RunOption) (*flowrun.Result, error)) error {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	sig := a.signals(stop)
	defer sig.stop()

	config, tidy, err := engineConfig(s, f)
	if err != nil {
		return err
	}
	defer tidy()
	config.JavaScript = a.javaScript()
	traces, err := newTracing(func(string) telemetry.About { return aboutRun(plan, past, f.retries, inherited()) })
	if err != nil && speaks(f.progress) {
		a.say("traces are not sent: %v", err)
	}
	traces.join(&config)
	defer func() {
		if err := traces.end(ctx, sig.force); err != nil && speaks(f.progress) {
			a.say("the trace is not complete: %v", err)
		}
	}()
	options := []flowrun.RunOption{flowrun.WithForce(sig.force), flowrun.WithTrace(inherited())}
	if f.id != "" {
		options = append(options, flowrun.WithID(f.id))
	}
	if f.force {
		options = append(options, flowrun.WithoutCache())
	}
	keys := a.keyboard(f.noInput)
	defer keys.release() // should a step not have come to it
	if keys != nil {
		options = append(options, flowrun.WithTerminal(keys))
		if ask := a.person(keys, f); ask != nil {
			options = append(options, flowrun.WithApproval(ask))
		}
		defer func(w io.Writer) { a.Stderr = w }(a.Stderr)
		a.Stderr = keys.screen(a.Stderr)
	}
	told := a.narrate(narration{mode: f.progress, plan: plan, past: past, keys: keys, recorded: s != nil, stateDir: config.StateDir})
	defer told.end()
	options = append(options, told.options...)
	options = append(options, flowrun.WithQueue(told.queued))
	out := &breaking{w: told.stdout, stop: stop}
	if f.output == "text" {
		options = append(options, flowrun.WithStdout(out))
	}
	engine, done, err := a.engine(config, plan, f)
	if err != nil {
		return err
	}
	res, err := run(ctx, engine, options...)
	done()
	told.end()
	if isTerminal(a.Stdout) {
		out.line()
	}
	if res == nil {
		if code := sig.code(); code != 0 && ctx.Err() != nil { // before the first step
			if speaks(f.progress) {
				a.say("%v", err)
			}
			return codeError(code)
		}
		return err
	}
	defer func() { a.notify(ctx, sig, s, ended{res, plan, past, err}, f) }()
	if err := cmp.Or(err, out.err, a.print(res, f.output)); err != nil {
		if s != nil && res.Status == dag.Interrupted && speaks(f.progress) {
			a.say("run %s is interrupted; flowrun resume %s goes on with it", res.ID, res.ID)
		}
		return err
	}
	if err := a.conclude(res, plan, f, s != nil); err != nil {
		return err
	}
	if code := sig.code(); code != 0 && res.Status == dag.Cancelled {
		return codeError(code)
	}
	if code := exitCode(res, f.passThrough); code != 0 {
		return codeError(code)
	}
	return nil
}

// engineConfig is what flags and settings make of an engine; s is the history, nil for
// none. tidy takes away what the engine leaves then.
func engineConfig(s *sqlite.Store, f runFlags) (config flowrun.Config, tidy func(), err error) {
	config = flowrun.Config{Parallel: f.maxParallel, StateDir: flowrun.DefaultStateDir(),
		Grace: f.settings.Duration("grace"), Cleanup: f.settings.Duration("limits.cleanup")}
	if config.Parallel == 0 {
		config.Parallel = int(f.settings.Number("limits.max-parallel"))
	}
	proc.SetPlace(config.StateDir) // also where this run keeps nothing there
	config.HTTP, config.Fetch, config.MayCall = netclient.Status, netclient.Fetch, f.mayCall
	if s != nil {
		config.Store = s
		return config, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "flowrun-") // the result is printed from the logs, which then go
	if err != nil {
		return config, nil, fmt.Errorf("cannot make a temporary folder: %w; set TMPDIR to one you can write to", err)
	}
	if state := config.StateDir; state != "" {
		config.ToolDir = filepath.Join(state, "tools") // what tools keep is theirs, and no history
	}
	config.StateDir, config.CacheDir = dir, flowrun.NoCache
	return config, func() { os.RemoveAll(dir) }, nil
}

// conclude tells how a run ended, in the ways that the flags ask for.
func (a *app) conclude(res *flowrun.Result, plan *flowrun.Plan, f runFlags, recorded bool) error {
	if speaks(f.progress) || f.progress == "quiet" && res.Status != dag.Succeeded {
		a.closing(res, recorded)
	}
	if f.progress == "github" {
		if err := a.page(res, plan); err != nil {
			a.say("%v", err) // the run is none the worse
		}
	}
	if f.summary {
		return a.summarize(res, plan)
	}
	return nil
}

// paths are those of a plan's steps, the ones inside others included.
func paths(p *flowrun.Plan, prefix string) []string {
	var list []string
	for _, name := range p.Steps() {
		list = append(list, prefix+name)
		if inner := p.Nested(name); inner != nil {
			list = append(list, paths(inner, prefix+name+"/")...)
		}
	}
	return list
}

// print writes the result to stdout; the text form went there during the run.
func (a *app) print(res *flowrun.Result, form string) error {
	switch form {
	case "json":
		enc := json.NewEncoder(a.Stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(res)
	case "combined":
		out := onScreen(a.Stdout)
		for i := range res.Steps {
			if err := combined(out, &res.Steps[i]); err != nil {
				return err
			}
		}
		return flush(out)
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
func (a *app) closing(res *flowrun.Result, recorded bool) {
	for _, n := range res.Notices {
		a.say("%s", n.Message)
	}
	detail := res.Message
	if res.Status == dag.Succeeded {
		if len(res.Notes) == 0 {
			return
		}
		detail = cmp.Or(detail, listed(res.Tolerated))
	}
	a.say("run %s %s%s", res.ID, res.Status.With(res.Notes...), colon(detail))
	if recorded && (res.Status != dag.Succeeded || res.Reason == flowrun.ReasonCleanup) {
		a.next(res)
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
