package runs

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/label"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// runFlags are the flags of flowrun run.
type runFlags struct {
	params      string
	maxParallel int
	dryRun      bool
	until       string
	assign      []string // --param
	label       []string // --label
	labels      map[string]string
	timeout     time.Duration
	quiet       bool
	verbose     bool
	output      string
	passThrough bool
	allowDash   bool
	noHistory   bool
	workspace   string // of resume and retry: where the project is now; "": where it was
	metrics     launch.MetricsFlags
	force       bool
	summary     bool
	watch       bool
	watchPaths  []string
	detach      bool
	trace       bool   // --trace-permissions
	dir         string // relative paths of notifications start here; "" is the working directory

	answered dag.ID // the step whose answer lets the run continue
	rejected bool   // that answer is a rejection

	launch.ConsentFlags
}

func runCommand(env *ui.Env) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run NAME|FILE [PARAM=value ...]",
		Short: "Run a tool",
		Long: `Run a tool by name, or a definition by path. An argument is a path if it contains a
slash or ends in .yaml, .yml, .json, .md, .tool.js or .tool.ts.

Write parameters as NAME=text, NAME=@file (the content of the file) or NAME:=JSON, or
pass one JSON or YAML object with --params FILE. To pass an array, repeat NAME=text for
each item. To show the parameters of a tool: flowrun run TOOL --help.

The output of the run goes to stdout, and progress goes to stderr. If a step sets
"output: {mode: stream}", its lines appear on stderr while it runs, each prefixed by the
name of the step. With --progress json, stderr contains only events.

An interactive step has the terminal to itself while it runs, and it receives Ctrl-C.
Press Ctrl-C three times within a second to stop the run. Without a terminal, or with
--no-input, the step gets its default response.`,
		Example: `  flowrun run weather LOCATION=Rome
  flowrun run ./build.yaml TAGS=a TAGS=b --max-parallel 4
  flowrun run deploy --params staging.yaml --dry-run
  flowrun run report -o json | jq .steps`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return ui.Usagef(c, "missing argument: give the name of a tool, or a file")
			}
			return nil
		},
		RunE:              func(c *cobra.Command, args []string) error { return run(env, c, append(args, f.assign...), f) },
		ValidArgsFunction: complete.Run(env),
	}
	c.SetFlagErrorFunc(env.WrongFlag)
	fl := c.Flags()
	fl.StringArrayVarP(&f.assign, "param", "p", nil, "a parameter, `NAME=value`; the same as an argument")
	fl.StringVar(&f.params, "params", "", "read parameters from this JSON or YAML `file`; - is stdin")
	fl.StringArrayVar(&f.label, "label", nil, "record this label with the run, `name=value`, to find it with flowrun runs --label")
	ui.DurationFlag(c, &f.timeout, "timeout", 0, "cancel the run after this `time` (90s, 2h, 1d); a shorter timeout of the tool still applies")
	fl.StringVar(&f.until, "until", "", "run only this `step` and its upstream steps")
	fl.BoolVar(&f.allowDash, "allow-dash", false, "allow values that begin with a dash, even where a command may read them as options")
	fl.BoolVar(&f.noHistory, "no-history", false, "do not record the run: you cannot resume it, and it neither uses nor fills the cache")
	fl.BoolVar(&f.detach, "detach", false, "let the service (flowrun serve) execute the run, and print its id")
	fl.BoolVarP(&f.watch, "watch", "w", false, "run again when a definition, or a file that a cache depends on, changes")
	fl.StringArrayVar(&f.watchPaths, "watch-path", nil, "with --watch, also watch the files that match this `pattern`, such as src/**/*.go")
	fl.BoolVar(&f.trace, "trace-permissions", false, "run every step without enforcing permissions, and print the required-permissions that the run needs")
	c.RegisterFlagCompletionFunc("param", complete.Param(env))
	c.RegisterFlagCompletionFunc("until", complete.Step(env))
	addRunFlags(c, &f)
	return c
}

// addRunFlags declares the flags shared by all commands that run something.
func addRunFlags(c *cobra.Command, f *runFlags) {
	fl := c.Flags()
	fl.IntVar(&f.maxParallel, "max-parallel", 0, "run at most `n` steps at once (default: 2 for each CPU, at least 4)")
	fl.BoolVar(&f.force, "force", false, "run steps even if the cache has their results; new results are stored")
	fl.BoolVarP(&f.dryRun, "dry-run", "n", false, "show what would run, without starting anything")
	fl.StringVar(&f.Progress, "progress", "auto", "how to show progress on stderr; `mode` is "+strings.Join(ui.ProgressModes(), "|"))
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "show only problems on stderr; the same as --progress quiet")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print progress as lines, with the location and the command of each step that starts")
	fl.BoolVar(&f.summary, "summary", false, "at the end, show when each step ran and the critical path")
	fl.StringVarP(&f.output, "output", "o", "text", "the `form` of the result on stdout: text (the tool's output), combined (the output of every step) or json")
	fl.BoolVar(&f.NoInput, "no-input", false, "ask no questions; interactive steps get their default response")
	fl.BoolVarP(&f.passThrough, "exit-code", "x", false, "exit with the exit code of the failed step")
	fl.StringVar(&f.metrics.File, "metrics-file", "", "write the run's metrics to this `file`, for node_exporter's textfile collector")
	fl.StringVar(&f.metrics.Addr, "metrics-addr", "", "serve the run's metrics at `HOST:PORT`/metrics while it runs; :PORT listens on this machine only")
	f.ConsentFlags.Declare(c)
	c.RegisterFlagCompletionFunc("progress", cobra.FixedCompletions(ui.ProgressModes(), cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(runOutputs, cobra.ShellCompDirectiveNoFileComp))
}

// check validates the flags and fills in defaults.
func (f *runFlags) check(env *ui.Env, c *cobra.Command) error {
	if err := f.applyQuietAndVerbose(c); err != nil {
		return err
	}
	if err := env.ResolveProgress(c, &f.InteractionFlags); err != nil {
		return err
	}
	if f.verbose && f.Progress == "tty" {
		f.Progress = "plain"
	}
	env.TrustOnce(f.TrustProject)
	if err := ui.OneOf(c, "output", f.output, runOutputs); err != nil {
		return err
	}
	if f.maxParallel < 0 || c.Flags().Changed("max-parallel") && f.maxParallel == 0 {
		return ui.Usagef(c, "--max-parallel must be at least 1")
	}
	return f.ConsentFlags.Check(c)
}

// applyQuietAndVerbose sets the progress mode that --quiet or --verbose stands for.
func (f *runFlags) applyQuietAndVerbose(c *cobra.Command) error {
	progress := c.Flags().Lookup("progress")
	switch {
	case f.quiet && f.verbose:
		return ui.Usagef(c, "--quiet and --verbose cannot be combined")
	case f.quiet && progress.Changed:
		return ui.Usagef(c, "--quiet cannot be combined with --progress")
	case f.quiet:
		f.Progress = "quiet"
	case f.verbose && progress.Changed && f.Progress != "plain" && f.Progress != "github":
		return ui.Usagef(c, "--verbose cannot be combined with --progress %s; use --progress plain or github", f.Progress)
	}
	progress.Changed = progress.Changed || f.quiet || f.verbose // like --progress, they override FLOWRUN_PROGRESS
	return nil
}

var runOutputs = []string{"text", "combined", "json"}

func run(env *ui.Env, c *cobra.Command, args []string, f runFlags) error {
	if err := f.check(env, c); err != nil {
		return err
	}
	if c.Flags().Changed("timeout") && f.timeout <= 0 {
		return ui.Usagef(c, "--timeout must be greater than 0")
	}
	var err error
	if f.labels, err = label.Parse(f.label); err != nil {
		return ui.Usagef(c, "--label: %v; %s", err, label.Rules)
	}
	if len(f.watchPaths) > 0 && !f.watch {
		return ui.Usagef(c, "--watch-path requires --watch")
	}
	if f.trace && (f.detach || f.dryRun) {
		return ui.Usagef(c, "--trace-permissions cannot be combined with --detach or --dry-run")
	}
	if f.trace && f.Progress == "json" && f.output != "json" {
		return ui.Usagef(c, "--trace-permissions with --progress json requires -o json")
	}
	if f.detach && !f.dryRun {
		return detach(env, c, args, f)
	}
	if f.watch {
		return watchRun(env, c, args, f)
	}
	r, err := parse(env, c, args, f, nil)
	if err != nil {
		return reportNotRun(env, args[0], f, err)
	}
	return reportNotRun(env, args[0], f, authorize(env, r, f))
}

// reportNotRun returns the error why a tool was not run. If the tool is a Markdown tool and -o json
// is set, it also prints a document with the reason.
func reportNotRun(env *ui.Env, name string, f runFlags, why error) error {
	if why == nil || f.output != "json" {
		return why
	}
	def, _, err := env.Library().Lookup(name, nil)
	if err != nil {
		return why
	}
	if res := runresult.NotRun(def, why); res != nil {
		return cmp.Or(PrintResult(env, res, f.output), why)
	}
	return why
}

// request is a run that the user wants. Its parameters are bound only once, so that what the
// policy, a dry run and a person see is exactly what runs.
type request struct {
	plan    *engine.Plan
	runEnv  engine.RunEnv
	params  map[string]any // as the user gave them
	args    *engine.Args   // bound parameters; nil if the parameters are invalid
	bindErr error          // why the parameters are invalid, or nil
	given   *launch.Params // params, with their locations in the --params file
}

func (r *request) bind() error {
	r.args, r.bindErr = r.plan.Bind(r.runEnv, r.params)
	r.bindErr = r.given.Locate(r.bindErr)
	return r.bindErr
}

func (r *request) preview(e engine.Enforcement) (*preview.Preview, error) {
	if r.bindErr != nil {
		return nil, r.bindErr
	}
	return r.args.PreviewFor(e, "")
}

// parse converts the command line to a request. answers are values of parameters that the person
// has already given.
func parse(env *ui.Env, c *cobra.Command, args []string, f runFlags, answers map[string]any) (*request, error) {
	r := &request{runEnv: engine.RunEnv{AllowDash: f.allowDash, JavaScript: env.JavaScript(), State: launch.ReadState(env)}}
	list, err := launch.ParseAssignments(c, args[1:])
	if err != nil {
		return nil, err
	}
	plan, err := ui.Compile(env, args[0])
	if env.AskToTrust(err, f.InteractionFlags) {
		plan, err = ui.Compile(env, args[0])
	}
	if err != nil {
		return nil, err
	}
	if f.until != "" {
		if plan, err = plan.Until(f.until); err != nil {
			return nil, err
		}
	}
	if f.timeout > 0 {
		if plan, err = plan.WithTimeout(f.timeout); err != nil {
			return nil, err
		}
	}
	r.plan = plan
	if r.given, err = launch.CollectParams(env, plan, r.runEnv, f.params, list); err != nil {
		return nil, err
	}
	r.params = r.given.Values
	r.bind()
	if r.fillMissing(answers) {
		r.bind()
	}
	if ui.Verbose(f.Progress) {
		printWarnings(env, plan, r.params)
	}
	if f.params == "-" { // stdin has been read to its end, so it cannot be used for questions
		return r, nil
	}
	return r, launch.AskMissingParams(env, plan, r.params, r.bindErr, r.bind, f.InteractionFlags)
}

// fillMissing fills in missing parameters with the values that the person gave before. It reports
// whether there were any.
func (r *request) fillMissing(answers map[string]any) (some bool) {
	bad, _ := errors.AsType[*value.ParamsError](r.bindErr)
	if bad == nil {
		return false
	}
	for _, m := range bad.Problems {
		if v, ok := answers[m.Name]; ok && m.Code == "missing" {
			r.params[m.Name], some = v, true
		}
	}
	return some
}

// authorize asks the policy, and possibly a person, whether the run is allowed, and executes it.
// For a dry run, it prints the preview instead.
func authorize(env *ui.Env, r *request, f runFlags) (err error) {
	if f.Settings, err = ui.RunSettings(env, f.InteractionFlags); err != nil {
		return err
	}
	what := launch.Subject{Tools: r.plan.Tools(), Preview: func() (*preview.Preview, error) { return r.preview(launch.Enforcement(f.Settings)) }}
	if f.dryRun {
		launch.PreviewDecision(env, what, f.ConsentFlags)
		return dryRun(env, r, f)
	}
	if !f.noHistory {
		f.noHistory = historyUnavailable(env, f.InteractionFlags)
	}
	what.Unrecorded = f.noHistory
	if f.ID, err = launch.Consent(env, nil, what, f.ConsentFlags); err != nil {
		return err
	}
	return withHistory(env, r, f)
}

// printWarnings prints warnings, including those about deprecated tools and parameters. That a parameter is not used
// concerns the run only if it was given.
func printWarnings(env *ui.Env, p *engine.Plan, params map[string]any) {
	warnings := slices.DeleteFunc(slices.Clone(p.Warnings), func(d tool.Diagnostic) bool {
		_, given := params[strings.TrimPrefix(d.Path, "parameters.")]
		return d.Code == "unused-parameter" && !given
	})
	if len(warnings) > 0 {
		env.Diagnose(warnings)
	}
	if d := p.Definition; d.Deprecated {
		env.Notef("tool %s is deprecated%s", d.Name, ui.AfterColon(console.Sanitize(d.DeprecatedMessage)))
	}
	for _, d := range p.Definition.Parameters {
		if _, given := params[d.Name]; given && d.Deprecated {
			use := ""
			if d.DeprecatedAlternative.S != "" {
				use = "; use " + console.Sanitize(d.DeprecatedAlternative.S)
			}
			env.Notef("parameter %s is deprecated%s", d.Name, use)
		}
	}
}
