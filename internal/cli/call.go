package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/policy"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/internal/telemetry"
	"github.com/flowrun/flowrun/registry"
)

// callFlags are the flags of flowrun call.
type callFlags struct {
	consentFlags
	timeout time.Duration
}

func (env *Env) callCommand() *cobra.Command {
	f := callFlags{consentFlags: consentFlags{door: policy.Call}}
	c := &cobra.Command{
		Use:   "call NAME [ARGUMENTS|-]",
		Short: "Call a tool as a language model does",
		Long: `Call a tool with the text that a language model wrote as its arguments, and print one
JSON document with what came of it, whatever the exit code. - reads the text from
standard input; without it the call has no arguments.

What models get wrong in JSON is mended where the text has one single meaning under the
tool's parameters: single quotes, bare names, Python's True and None, name=value, code
fences, prose around. Anything else is refused, with an example of what would be right.

Every call asks first, unless --auto-approve or approvals.allow of the configuration
lets it: at a terminal a person is shown what would happen, elsewhere the call is
refused. docs/calls.md describes the document, its codes and its statuses.`,
		Example: `  flowrun call weather '{"location": "Rome", "days": 3}' --auto-approve tool:weather
  flowrun call weather "{location='Rome', days=3}" --auto-approve tool:read
  flowrun call weather "weather(location='Rome', metric=True)"
  printf '%s' "$ARGUMENTS" | flowrun call weather - | jq -r .llmContent`,
		RunE:              func(c *cobra.Command, args []string) error { return env.call(c, args, f) },
		ValidArgsFunction: env.completeCall,
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return env.noCall(wrongFlag(c, err)) })
	fl := c.Flags()
	fl.DurationVar(&f.timeout, "timeout", 0, "stop the tool after this `time` (default: limits.call-timeout, 60s)")
	f.consentFlags.declare(c)
	return c
}

// completeCall offers tools in files and built-in ones. A command that tells of more is not
// started for it.
func (env *Env) completeCall(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	words, _ := env.completeTool(c, args, prefix)
	if len(args) > 0 {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	for _, d := range env.builtIn() {
		inFile := slices.ContainsFunc(words, func(w string) bool { return w == d.Name || strings.HasPrefix(w, d.Name+"\t") })
		if strings.HasPrefix(d.Name, prefix) && !inFile {
			words = append(words, described(d.Name, d.Description))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

func (f *callFlags) check(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return usagef(c, "which tool? Give its name")
	case len(args) > 2:
		return usagef(c, "the arguments are one text; put it between quotes")
	case f.timeout < 0, f.timeout == 0 && c.Flags().Changed("timeout"):
		return usagef(c, "--timeout must be more than 0")
	}
	return f.consentFlags.check(c)
}

func (env *Env) call(c *cobra.Command, args []string, f callFlags) error {
	if err := f.check(c, args); err != nil {
		return env.noCall(err)
	}
	if err := ownState(); err != nil {
		return env.noCall(err)
	}
	if f.progress = "none"; isTerminal(env.Stderr) { // elsewhere nothing but the document is printed
		f.progress = "auto"
		if err := env.settle(c, &f.asking); err != nil {
			return env.noCall(err)
		}
	}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	sig := env.signals(stop)
	defer sig.stop()
	text, err := env.argumentsText(ctx, args[1:])
	if err != nil {
		return env.answer(ctx, sig, notCalled(ctx, err))
	}
	return env.answer(ctx, sig, env.answerTo(ctx, sig, registry.Request{Tool: args[0], Arguments: text}, f))
}

// mostArguments is how much of standard input is read: what is longer is refused.
const mostArguments = 1<<20 + 1

// argumentsText is what the model wrote.
func (env *Env) argumentsText(ctx context.Context, words []string) (string, error) {
	switch {
	case len(words) == 0:
		return "{}", nil
	case words[0] != "-":
		return words[0], nil
	}
	type input struct {
		text []byte
		err  error
	}
	got := make(chan input, 1)
	go func() { // after Ctrl-C it is left behind: the process ends
		text, err := io.ReadAll(io.LimitReader(env.Stdin, mostArguments))
		got <- input{text, err}
	}()
	select {
	case in := <-got:
		if in.err != nil {
			return "", fmt.Errorf("cannot read the arguments from standard input: %w", in.err)
		}
		return string(in.text), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// answerTo goes the way of one call: its settings, the history, the registry.
func (env *Env) answerTo(ctx context.Context, sig *signals, q registry.Request, f callFlags) (answer *registry.Answer) {
	var err error
	if f.settings, err = env.settings(f.asking); err != nil {
		return notCalled(ctx, err)
	}
	if f.timeout == 0 {
		f.timeout = f.settings.Duration("limits.call-timeout")
	}
	f.library = env.library
	err = env.writing(func(_ context.Context, s *sqlite.Store) error {
		defer env.retain(context.WithoutCancel(ctx), s, f.settings)
		answer = env.callWith(ctx, sig, s, q, f)
		return nil
	})
	if answer == nil {
		return notCalled(ctx, err)
	}
	return answer
}

// callWith calls the tool with the history open.
func (env *Env) callWith(ctx context.Context, sig *signals, s *sqlite.Store, q registry.Request, f callFlags) *registry.Answer {
	config, tidy, err := engineConfig(s, f.consentFlags, 0)
	if err != nil {
		return notCalled(ctx, err)
	}
	defer tidy()
	config.JavaScript = env.javaScript()
	d := &callDoor{env: env, flags: f, store: s, request: q, told: &narrator{end: func() {}}}
	traces, err := newTracing(func(string) telemetry.About { return aboutRun(d.plan, nil, nil, inherited()) })
	if err != nil && speaks(f.progress) {
		env.say("traces are not sent: %v", err)
	}
	traces.join(&config)
	o := registry.Options{Engine: flowrun.New(config), World: flowrun.World{JavaScript: env.javaScript()}.Until(ctx), Files: true, Timeout: f.timeout,
		Judge: d.judge, Confirm: d.confirm, Run: func(i *registry.Invocation) []flowrun.RunOption {
			d.told = env.narrate(narration{mode: f.progress, plan: i.Tool.Plan(), recorded: true, stateDir: config.StateDir})
			return append(d.told.options, flowrun.WithForce(sig.force), flowrun.WithTrace(inherited()), flowrun.WithOrigin(flowrun.OriginCall), flowrun.WithQueue(d.told.queued))
		}}
	answer := registry.New(env.library(), o).Call(ctx, q)
	d.told.end()
	if res := answer.Result; res != nil {
		env.notify(ctx, sig, s, ended{res: res, plan: d.plan}, f.consentFlags, "")
	}
	if err := traces.end(ctx, sig.force); err != nil && speaks(f.progress) {
		env.say("the trace is not complete: %v", err)
	}
	return answer
}

// codeUsage is the code of a wrong command line.
const codeUsage = "usage"

// notCalled answers where the call did not come to the registry.
func notCalled(ctx context.Context, err error) *registry.Answer {
	answer := &registry.Answer{Status: registry.Failed, Err: err, Error: &registry.Error{Code: registry.CodeNotRun, Message: err.Error()}}
	switch {
	case ctx.Err() != nil:
		answer.Status, answer.Error.Code = registry.Stopped, registry.CodeCancelled
	case errors.As(err, new(*usageError)):
		answer.Error.Code, answer.Error.Hint = codeUsage, "flowrun call --help shows how it is called"
	}
	answer.Content = flowrun.TextContent("Error: "+answer.Error.Message, "")
	return answer
}

// noCall tells of a wrong command line, on stderr as ever and in the document.
func (env *Env) noCall(err error) error {
	code := env.fail(err)
	if err := env.writeJSON(notCalled(context.Background(), err)); err != nil {
		return err
	}
	return codeError(code)
}

// answer prints the document, and chooses the exit code.
func (env *Env) answer(ctx context.Context, sig *signals, answer *registry.Answer) error {
	if err := env.writeJSON(answer); err != nil {
		return err
	}
	if code := env.callCode(sig, answer); code != 0 {
		return codeError(code)
	}
	return nil
}

// callCode is the exit code of a call.
func (env *Env) callCode(sig *signals, answer *registry.Answer) int {
	if answer.Error == nil {
		return 0
	}
	code, known := map[string]int{
		registry.CodeNotFound: exitNotFound, registry.CodeInvalidDefinition: exitInvalid, registry.CodeNotApproved: exitRefused,
		registry.CodeDeclined: exitRefused, registry.CodeFailed: exitFailed, registry.CodeTimeout: dag.ExitTimeout,
		registry.CodeWaiting: exitWaiting, registry.CodeInterrupted: exitWaiting, registry.CodeCancelled: exitInterrupt,
	}[answer.Error.Code]
	switch {
	case answer.Error.Code == registry.CodeCancelled && sig.code() != 0:
		return sig.code()
	case known:
		return code
	case answer.Status == registry.Refused:
		return exitParams
	}
	quiet := &Env{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: io.Discard}
	return max(quiet.fail(answer.Err), exitFailed)
}
