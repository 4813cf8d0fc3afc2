package engine

import (
	"context"
	"io"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/engine/terminal"
)

// RunOption changes one run.
type RunOption func(*runOptions)

type runOptions struct {
	id           string
	origin       string
	labels       map[string]string
	onRecorded   func()
	env          RunEnv
	sinks        []dag.Sink
	stdout       io.Writer
	shortOutput  bool
	force        <-chan struct{}
	release      releaseChannels
	around       func(context.Context, *dag.Call, dag.Runner) (dag.Result, error)
	withoutCache bool
	trace        history.TraceContext
	mayCall      func([]plan.UsedTool) error
	askModel     func(context.Context, call.ModelRequest) (string, error)

	tracePermissions bool
	withoutRetryRun  bool

	approval func(context.Context, history.Question) (history.Answer, error)

	terminal        Terminal
	prompt          func(context.Context, terminal.Prompt) (string, error)
	console, stream func(steps.Chunk)
	progress        func(steps.Progress)
	queued          func(history.QueuePosition)
	noticed         func(notice.Notice)
}

// WithID gives the run an id instead of a new one.
func WithID(id string) RunOption { return func(o *runOptions) { o.id = id } }

// WithMayCall replaces Config.MayCall for this run: an Engine can have callers with different rights. nil means that
// Config.MayCall is used.
func WithMayCall(f func([]plan.UsedTool) error) RunOption {
	return func(o *runOptions) { o.mayCall = f }
}

// WithAskModel replaces Config.AskModel for this run: its caller may have a language model of its own.
func WithAskModel(f func(context.Context, call.ModelRequest) (answer string, err error)) RunOption {
	return func(o *runOptions) { o.askModel = f }
}

// WithOrigin sets who started the run, in a word or two that are stored with it: "" is a person or program that runs
// it directly; the flowrun service uses schedule:NAME, backfill:NAME, file:NAME, after:NAME, webhook:NAME, api and detach;
// OriginCall and OriginMCP are for calls of models. A resumed run keeps its origin, a retry has its own.
func WithOrigin(who string) RunOption { return func(o *runOptions) { o.origin = who } }

// WithLabels adds labels to the run, to find it again, beside those of its tool; for a name that both have, this value
// counts. A resumed run keeps its labels, and a retry has those of the run that it retries too. They are recorded as they
// are, so they must not hold secrets. Run returns an error if there are more than 16, or if one is not valid: a name has
// lower-case letters, digits and . _ / -, a value has letters, digits, spaces and . _ / : @ + , = - and at most 100 bytes.
func WithLabels(labels map[string]string) RunOption {
	return func(o *runOptions) { o.labels = labels }
}

// The origins of runs that a model's call started. The service resumes such a run if it waited for a person, but not
// if it was broken off together with its caller.
const (
	OriginCall = "call" // flowrun call
	OriginMCP  = "mcp"  // a client of the Model Context Protocol
)

// CalledByModel reports whether an origin is that of a model's call.
func CalledByModel(origin string) bool { return origin == OriginCall || origin == OriginMCP }

// WithOnRecorded calls f once, after the run has been durably recorded and before its first step starts: even if the
// machine fails after that, the run can be found and resumed. f is not called if the run is refused or the engine has
// no Store. For a resumed run, f is called as soon as this engine owns it; if f cancels the context, the run is
// cancelled before any of its steps runs again.
func WithOnRecorded(f func()) RunOption { return func(o *runOptions) { o.onRecorded = f } }

// WithRunEnv sets the run environment: directory, environment, time.
func WithRunEnv(w RunEnv) RunOption { return func(o *runOptions) { o.env = w } }

// WithSink adds a sink for this run.
func WithSink(s dag.Sink) RunOption {
	return func(o *runOptions) { o.sinks = append(o.sinks, s) }
}

// WithStdout writes the whole output of the run to w, whatever its size: while the run executes if it is known which
// step gives the output, else when the run has ended. A value that a script or a Go function returned is written as one
// line of JSON. Result.Output then holds only the beginning of the output.
func WithStdout(w io.Writer) RunOption { return func(o *runOptions) { o.stdout = w } }

// WithShortOutput lets Result.Output hold only the beginning of the output, so that a long one takes no memory.
// Result.WriteJSON reads the rest from the log. Without Config.StateDir there will be no log, and the option has no
// effect.
func WithShortOutput() RunOption { return func(o *runOptions) { o.shortOutput = true } }

// WithForce stops the run at once, without a grace period, when the channel is closed. Cancelling the context stops
// it gently.
func WithForce(c <-chan struct{}) RunOption { return func(o *runOptions) { o.force = c } }

// releaseChannels holds the two channels that release a run.
type releaseChannels struct{ gently, now <-chan struct{} }

// WithRelease releases the run when a channel is closed: the run does not end, and this program or another can resume
// it as after a crash. gently starts no further steps and lets the running ones end; now stops them, and a later
// resume follows their on-interrupt. Run then returns dag.ErrReleased. A run that is being cancelled is first brought
// to its end, unless now is closed.
func WithRelease(gently, now <-chan struct{}) RunOption {
	return func(o *runOptions) { o.release = releaseChannels{gently, now} }
}

// WithAround calls f in place of the work of every step, including fallbacks and cleanup. r is that work; f may call
// it, to measure it, or return a result in its place, as package flowruntest does.
func WithAround(f func(ctx context.Context, c *dag.Call, r dag.Runner) (dag.Result, error)) RunOption {
	return func(o *runOptions) { o.around = f }
}

// WithoutCache executes every step, even if a stored result could be reused. The new results are stored.
func WithoutCache() RunOption { return func(o *runOptions) { o.withoutCache = true } }

// WithPermissionTrace finds out which permissions the run needs: Result.Permissions. Every step is executed. The security
// settings that enforce required-permissions have no effect, so that the run is not stopped by what it lacks. If the
// engine has a StateDir, the report is kept with the run. It works on Linux. Steps with detach, and commands that fetch
// secrets, are not traced.
func WithPermissionTrace() RunOption {
	return func(o *runOptions) { o.tracePermissions, o.withoutCache = true, true }
}

// WithTrace records the trace that a new run is part of. A resumed run stays part of it. Programs that export spans
// find it in the Record.
func WithTrace(c history.TraceContext) RunOption { return func(o *runOptions) { o.trace = c } }

// Terminal reaches the person who answers interactive steps.
type Terminal interface {
	terminal.Terminal
	// Stdout reports whether the writer of WithStdout is shown on this terminal. If so, what a step has shown there
	// is not written a second time.
	Stdout() bool
}

// WithTerminal lets a person answer interactive steps. Without it, each step gets its default response, or the end of
// its input.
func WithTerminal(t Terminal) RunOption { return func(o *runOptions) { o.terminal = t } }

// WithPrompt calls ask for a line of input when an interactive step that has no Terminal seems to wait for one, except
// for a password. Steps that run at the same time can ask at the same time. After an error the attempt gets its default
// response, or the end of its input. ask must return soon after its ctx ends, which happens when the step has ended or
// its interactive-options.timeout is over.
func WithPrompt(ask func(ctx context.Context, p terminal.Prompt) (line string, err error)) RunOption {
	return func(o *runOptions) { o.prompt = ask }
}

// WithStream calls f with the output of steps that have stream-callback: function, while they run: one call at a
// time, in order for each stream of a step, with secrets masked. A slow f does not delay the steps; at its end Run
// waits for f, as long as f makes progress. Without WithStream, a run with such a step is refused with
// tool.Diagnostics.
func WithStream(f func(steps.Chunk)) RunOption { return func(o *runOptions) { o.stream = f } }

// WithConsole is WithStream for steps that stream to the console, the default of stream-callback. Output that already
// goes to the writer of WithStdout while it is printed, or was shown on the terminal, is left out. Without
// WithConsole, the streams are dropped.
func WithConsole(f func(steps.Chunk)) RunOption { return func(o *runOptions) { o.console = f } }

// WithProgress calls f with how far steps are that report it (gostep.StepInput.Progress), one call at a time. Without it,
// the function of WithConsole gets a line.
func WithProgress(f func(steps.Progress)) RunOption { return func(o *runOptions) { o.progress = f } }

// WithQueue calls f when the run has to wait in the queue for locks, or for other runs of its tool to end; again when
// what it waits for changes; and once more, without Obstacles, when it is admitted. There is one call at a time; a
// slow f delays the run.
func WithQueue(f func(history.QueuePosition)) RunOption { return func(o *runOptions) { o.queued = f } }

// WithNotices calls f for each notice as soon as it arises, such as that a step has to wait until the system can start
// it. Result.Notices has them all. f may be called by several goroutines at once.
func WithNotices(f func(notice.Notice)) RunOption { return func(o *runOptions) { o.noticed = f } }

// WithApproval calls ask for every question of the run's approve steps, as soon as it is asked, each in its own
// goroutine. In a resumed run it also gets the questions that were already open. The Answer that it returns is
// recorded like any other; its Step and Wait need not be set. ask must return soon after its ctx ends: that happens
// when the question has been answered elsewhere, when it is too late to answer, and when the run ends.
//
// The run does not end while ask is busy. With an error, ask leaves the answer to others; use ErrNoApprover unless
// something is wrong. If only answers of others are left to wait for, Run returns with the status Waiting. Without
// WithApproval nobody is asked, and a step that asks fails if there is no Store either.
func WithApproval(ask func(ctx context.Context, q history.Question) (history.Answer, error)) RunOption {
	return func(o *runOptions) { o.approval = ask }
}
