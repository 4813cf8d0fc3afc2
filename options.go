package flowrun

import (
	"context"
	"io"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/steps"
)

// RunOption changes one run.
//
//	type RunOption func(*runOptions)
type RunOption = engine.RunOption

// WithRunEnv sets the run environment: directory, environment, time.
func WithRunEnv(w RunEnv) RunOption { return engine.WithRunEnv(w) }

// WithID gives the run an id instead of a new one.
func WithID(id string) RunOption { return engine.WithID(id) }

// WithLabels adds labels to the run, to find it again, beside those of its tool; for a name that both have, this value
// counts. A resumed run keeps its labels, and a retry has those of the run that it retries too. They are recorded as they
// are, so they must not hold secrets. Run returns an error if there are more than 16, or if one is not valid: a name has
// lower-case letters, digits and . _ / -, a value has letters, digits, spaces and . _ / : @ + , = - and at most 100 bytes.
func WithLabels(labels map[string]string) RunOption { return engine.WithLabels(labels) }

// WithSink adds a sink for this run.
func WithSink(s dag.Sink) RunOption { return engine.WithSink(s) }

// WithStdout writes the whole output of the run to w, whatever its size: while the run executes if it is known which
// step gives the output, else when the run has ended. A value that a script or a Go function returned is written as one
// line of JSON. Result.Output then holds only the beginning of the output.
func WithStdout(w io.Writer) RunOption { return engine.WithStdout(w) }

// WithShortOutput lets Result.Output hold only the beginning of the output, so that a long one takes no memory.
// Result.WriteJSON reads the rest from the log. Without Config.StateDir there will be no log, and the option has no
// effect.
func WithShortOutput() RunOption { return engine.WithShortOutput() }

// WithForce stops the run at once, without a grace period, when the channel is closed. Cancelling the context stops
// it gently.
func WithForce(c <-chan struct{}) RunOption { return engine.WithForce(c) }

// WithAround calls f in place of the work of every step, including fallbacks and cleanup. r is that work; f may call
// it, to measure it, or return a result in its place, as package flowruntest does.
func WithAround(f func(ctx context.Context, c *dag.Call, r dag.Runner) (dag.Result, error)) RunOption {
	return engine.WithAround(f)
}

// WithStream calls f with the output of steps that have stream-callback: function, while they run: one call at a
// time, in order for each stream of a step, with secrets masked. A slow f does not delay the steps; at its end Run
// waits for f, as long as f makes progress. Without WithStream, a run with such a step is refused with
// tool.Diagnostics.
func WithStream(f func(steps.Chunk)) RunOption { return engine.WithStream(f) }

// WithTerminal lets a person answer interactive steps. Without it, each step gets its default response, or the end of
// its input.
func WithTerminal(t Terminal) RunOption { return engine.WithTerminal(t) }

// WithTrace records the trace that a new run is part of. A resumed run stays part of it. Programs that export spans
// find it in the Record.
func WithTrace(c history.TraceContext) RunOption { return engine.WithTrace(c) }

// WithQueue calls f when the run has to wait in the queue for locks, or for other runs of its tool to end; again when
// what it waits for changes; and once more, without Obstacles, when it is admitted. There is one call at a time; a
// slow f delays the run.
func WithQueue(f func(history.QueuePosition)) RunOption { return engine.WithQueue(f) }

// WithApproval calls ask for every question of the run's approve steps, as soon as it is asked, each in its own
// goroutine. In a resumed run it also gets the questions that were already open. The Answer that it returns is
// recorded like any other; its Step and Wait need not be set. ask must return soon after its ctx ends: that happens
// when the question has been answered elsewhere, when it is too late to answer, and when the run ends.
//
// The run does not end while ask is busy. With an error, ask leaves the answer to others; use ErrNoApprover unless
// something is wrong. If only answers of others are left to wait for, Run returns with the status Waiting. Without
// WithApproval nobody is asked, and a step that asks fails if there is no Store either.
func WithApproval(ask func(ctx context.Context, q history.Question) (history.Answer, error)) RunOption {
	return engine.WithApproval(ask)
}

// WithoutCache executes every step, even if a stored result could be reused. The new results are stored.
func WithoutCache() RunOption { return engine.WithoutCache() }

// WithoutRetryRun makes the end of the run final, also if its tool has retry-run: Result.RetryAt is zero.
func WithoutRetryRun() RunOption { return engine.WithoutRetryRun() }

// Terminal reaches the person who answers interactive steps.
//
//	type Terminal interface {
//		terminal.Terminal
//		// Stdout reports whether the writer of WithStdout is shown on this terminal. If so, what a step has shown there
//		// is not written a second time.
//		Stdout() bool
//	}
type Terminal = engine.Terminal
