package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/keyboard"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/model/policy"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// callFlags are the flags of flowrun call.
type callFlags struct {
	launch.ConsentFlags
	timeout time.Duration
}

func callCommand(env *ui.Env) *cobra.Command {
	f := callFlags{ConsentFlags: launch.ConsentFlags{EntryPoint: policy.Call}}
	c := &cobra.Command{
		Use:   "call NAME [ARGUMENTS|-]",
		Short: "Call a tool on behalf of a language model",
		Long: `Call a tool with the arguments that a language model wrote, and print one JSON document
with the result. The command prints the document whatever its exit code. Use - to read the
arguments from standard input; without ARGUMENTS the call has none.

If the arguments are not valid JSON but have only one reading, flowrun repairs them: single
quotes, unquoted names, Python's True and None, name=value, code fences, surrounding prose.
It rejects all other text, and shows an example of valid arguments.

Every call needs approval, unless --auto-approve or approvals.allow of the configuration
allows it. At a terminal, flowrun shows what would happen and asks you; elsewhere it refuses
the call. Names and tags of a project's tools match these patterns only if you trust the
project: run flowrun trust once. flowrun docs calls describes the document, its codes and its statuses.`,
		Example: `  flowrun call weather '{"location": "Rome", "days": 3}' --auto-approve tool:weather
  flowrun call weather "{location='Rome', days=3}" --auto-approve tool:read
  flowrun call weather "weather(location='Rome', metric=True)"
  printf '%s' "$ARGUMENTS" | flowrun call weather - | jq -r .llmContent`,
		RunE:              func(c *cobra.Command, args []string) error { return call(env, c, args, f) },
		ValidArgsFunction: completeCall(env),
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return reportUsage(env, ui.WrongFlag(c, err)) })
	ui.DurationFlag(c, &f.timeout, "timeout", 0, "stop the tool after this `time` (default: limits.call-timeout, 60s)")
	f.ConsentFlags.Declare(c)
	return c
}

// ServerCallCommand returns flowrun mcp call, which is flowrun call for the tools of MCP servers.
func ServerCallCommand(env *ui.Env) *cobra.Command {
	c := callCommand(env)
	c.Use = "call SERVER__TOOL [ARGUMENTS|-]"
	c.Short = "Call a tool of an MCP server"
	c.Long = `Call a tool of an MCP server, and print one JSON document with the result. This is flowrun call:
the arguments are repaired in the same way, and every call needs approval.`
	c.Example = `  flowrun mcp call github__search '{"query": "flowrun"}'
  flowrun mcp call github__search '{"query": "flowrun"}' --auto-approve tool:github__search`
	c.ValidArgsFunction = cobra.NoFileCompletions
	return c
}

// completeCall completes tools in files and built-in tools. It does not run the discovery command.
func completeCall(env *ui.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		words, _ := complete.Tool(env)(c, args, prefix)
		if len(args) > 0 {
			return words, cobra.ShellCompDirectiveNoFileComp
		}
		for _, d := range env.BuiltIn() {
			inFile := slices.ContainsFunc(words, func(w string) bool { return w == d.Name || strings.HasPrefix(w, d.Name+"\t") })
			if strings.HasPrefix(d.Name, prefix) && !inFile {
				words = append(words, complete.WithDescription(d.Name, d.Description))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func (f *callFlags) check(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return ui.Usagef(c, "missing argument: give the name of a tool")
	case len(args) > 2:
		return ui.Usagef(c, "too many arguments: the text of the model must be one argument, so put it in quotes")
	case f.timeout < 0, f.timeout == 0 && c.Flags().Changed("timeout"):
		return ui.Usagef(c, "--timeout must be greater than 0")
	}
	return f.ConsentFlags.Check(c)
}

func call(env *ui.Env, c *cobra.Command, args []string, f callFlags) error {
	if err := f.check(c, args); err != nil {
		return reportUsage(env, err)
	}
	if err := ui.CheckStateOwner(); err != nil {
		return reportUsage(env, err)
	}
	if f.Progress = "none"; ui.IsTerminal(env.Stderr) { // if stderr is not a terminal, only the document is printed
		f.Progress = "auto"
		if err := env.ResolveProgress(c, &f.InteractionFlags); err != nil {
			return reportUsage(env, err)
		}
	}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	sig := env.Signals(stop)
	defer sig.Stop()
	text, err := argumentsText(ctx, env, args[1:])
	if err != nil {
		return printAnswer(env, sig, notCalledAnswer(ctx, err))
	}
	return printAnswer(env, sig, callWithHistory(ctx, env, sig, registry.Request{Tool: args[0], Arguments: text}, f))
}

// maxArguments is how many bytes of standard input are read. It is one more than package registry
// accepts, so longer text is rejected.
const maxArguments = 1<<20 + 1

// argumentsText returns the text that the model wrote: the argument, or stdin for "-".
func argumentsText(ctx context.Context, env *ui.Env, words []string) (string, error) {
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
	go func() { // abandoned after Ctrl-C, because the process ends then
		text, err := io.ReadAll(io.LimitReader(env.Stdin, maxArguments))
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

// callWithHistory loads the settings, opens the history and calls the tool.
func callWithHistory(ctx context.Context, env *ui.Env, sig *ui.Signals, q registry.Request, f callFlags) (answer *registry.Answer) {
	var err error
	if f.Settings, err = ui.RunSettings(env, f.InteractionFlags); err != nil {
		return notCalledAnswer(ctx, err)
	}
	if f.timeout == 0 {
		f.timeout = f.Settings.Duration("limits.call-timeout")
	}
	f.Library = env.Library
	err = env.WriteHistory(func(_ context.Context, s ui.History) error {
		defer launch.ApplyRetention(context.WithoutCancel(ctx), env, s.Retention(), f.Settings)
		answer = callTool(ctx, env, sig, s, q, f)
		return nil
	})
	if answer == nil {
		return notCalledAnswer(ctx, err)
	}
	return answer
}

// callTool calls the tool with the history open.
func callTool(ctx context.Context, env *ui.Env, sig *ui.Signals, s ui.History, q registry.Request, f callFlags) *registry.Answer {
	config, tidy, err := launch.EngineConfig(s, f.ConsentFlags, 0)
	if err != nil {
		return notCalledAnswer(ctx, err)
	}
	defer tidy()
	config.JavaScript = env.JavaScript()
	var keys *keyboard.Keyboard // nil if no person can be asked
	if env.CanAsk(f.InteractionFlags) {
		keys = keyboard.Open(env, f.NoInput)
	}
	if keys != nil {
		defer env.ServerQuestions.AnswerWith(keys.AskForServer)()
	}
	d := &approver{env: env, flags: f, store: s, request: q}
	endTraces := launch.StartTraces(env, &config, f.InteractionFlags)
	runEnv := func(*engine.Plan) engine.RunEnv {
		dir, _ := os.Getwd()
		return engine.RunEnv{Workspace: dir, TrustedProject: f.Settings.Trust.ProjectOf(dir), JavaScript: env.JavaScript()}.Until(ctx)
	}
	o := registry.Options{Engine: engine.New(config), RunEnv: runEnv, Files: true, Timeout: f.timeout,
		Refused: launch.RefusalTexts(f.Settings, env.Language())}
	i, answer := registry.New(env.Library(), o).Read(ctx, q)
	if answer == nil {
		answer = d.answer(ctx, i)
	}
	if answer == nil {
		n := runview.Narrate(env, runview.Narration{Mode: f.Progress, Plan: d.plan, Keys: keys, Recorded: true, StateDir: config.StateDir})
		answer = i.Do(ctx, append(n.Options, engine.WithForce(sig.Force), engine.WithTrace(launch.InheritedTrace()), engine.WithOrigin(engine.OriginCall), engine.WithQueue(n.Queued))...)
		n.End()
	}
	if res := answer.Result; res != nil {
		launch.Notify(ctx, env, sig, s, launch.RunEnd{Result: res, Plan: d.plan}, f.ConsentFlags, "")
	}
	endTraces(ctx, sig.Force)
	return answer
}

// notCalledAnswer returns the answer for a call that did not reach the registry.
func notCalledAnswer(ctx context.Context, err error) *registry.Answer {
	answer := &registry.Answer{Err: err, Error: &registry.Error{Code: outcome.AnswerNotRun, Message: err.Error()}}
	switch {
	case ctx.Err() != nil:
		answer.Error.Code = outcome.AnswerCancelled
	case errors.As(err, new(*ui.UsageError)):
		answer.Error.Code, answer.Error.Hint = outcome.AnswerUsage, "flowrun call --help describes the command line"
	}
	answer.Status = registry.Status(outcome.AnswerOf(answer.Error.Code).Status)
	answer.Content = gostep.TextContent("Error: "+answer.Error.Message, "")
	return answer
}

// reportUsage reports a usage error, both on stderr and in the document.
func reportUsage(env *ui.Env, err error) error {
	code := env.ReportError(err)
	if err := ui.WriteJSON(env, notCalledAnswer(context.Background(), err)); err != nil {
		return err
	}
	return ui.CodeError(code)
}

// printAnswer prints the document and returns the exit code as an error.
func printAnswer(env *ui.Env, sig *ui.Signals, answer *registry.Answer) error {
	if answer.Advice != "" && ui.IsTerminal(env.Stderr) { // elsewhere a model may read it
		env.Notef("%s", answer.Advice)
	} else if missing := (*library.NotFoundError)(nil); errors.As(answer.Err, &missing) && missing.Note != "" {
		env.Notef("warning: %s", missing.Note) // what is ignored because nobody trusts the project could have the tool
	}
	if err := ui.WriteJSON(env, answer); err != nil {
		return err
	}
	if code := callCode(env, sig, answer); code != 0 {
		return ui.CodeError(code)
	}
	return nil
}

// callCode returns the exit code of a call.
func callCode(env *ui.Env, sig *ui.Signals, answer *registry.Answer) int {
	if answer.Error == nil {
		return 0
	}
	exit := outcome.AnswerOf(answer.Error.Code).Exit
	switch {
	case answer.Error.Code == outcome.AnswerCancelled && sig.Code() != 0:
		return sig.Code()
	case exit != outcome.ExitOfError:
		return exit
	}
	quiet := &ui.Env{Terminal: ui.Terminal{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: io.Discard}}
	return max(quiet.ReportError(answer.Err), outcome.ExitFailed)
}
