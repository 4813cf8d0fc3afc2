package flowrun

import (
	"context"
	"io"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/steps"
)

// RunOption changes one run.
type RunOption func(*runOptions)

type runOptions struct {
	id         string
	origin     string
	onRecorded func()
	env        RunEnv
	sinks      []dag.Sink
	stdout     io.Writer
	force      <-chan struct{}
	letGo      letGo
	around     func(context.Context, *dag.Call, dag.Runner) (dag.Result, error)
	afresh     bool
	parent     TraceContext

	approval func(context.Context, Question) (Answer, error)

	terminal        Terminal
	console, stream func(StreamChunk)
	queued          func(QueuePosition)
}

// WithID gives the run an id instead of a new one.
func WithID(id string) RunOption { return func(o *runOptions) { o.id = id } }

// WithOrigin says who began the run, in a word or two that are kept with it: "" is a
// person or program that runs it itself; the flowrun service uses schedule:NAME,
// webhook:NAME, api and detach, flowrun call OriginCall. A run that goes on keeps its
// origin, a retry has its own.
func WithOrigin(who string) RunOption { return func(o *runOptions) { o.origin = who } }

// OriginCall is the origin of runs that a model's call began. A service goes on with one
// that waited for a person, and not with one that was broken off with its caller.
const OriginCall = "call"

// WithOnRecorded has f called once, as soon as the run is on record for good: what happens
// to the machine from then on, the run can be found and taken up. It is called before the
// first step, and not at all where the run is refused or the engine has no Store. For a
// run that goes on it is called as soon as this engine has it; one whose context f
// cancels is cancelled before anything of it runs again.
func WithOnRecorded(f func()) RunOption { return func(o *runOptions) { o.onRecorded = f } }

// WithRunEnv sets the run's surroundings: directory, environment, time.
func WithRunEnv(w RunEnv) RunOption { return func(o *runOptions) { o.env = w } }

// WithSink adds a sink for this run.
func WithSink(s dag.Sink) RunOption {
	return func(o *runOptions) { o.sinks = append(o.sinks, s) }
}

// WithStdout has the run's output written to w whole, however large: live where
// the step that gives it is known before it ends, else when the run has ended.
// Result.Output then holds only its beginning.
func WithStdout(w io.Writer) RunOption { return func(o *runOptions) { o.stdout = w } }

// WithForce stops the run at once, without grace, when the channel is closed;
// cancelling the context stops it gently.
func WithForce(c <-chan struct{}) RunOption { return func(o *runOptions) { o.force = c } }

// letGo are the two ways to let a run go.
type letGo struct{ gently, now <-chan struct{} }

// WithRelease lets the run go when a channel is closed: it does not end, and can be
// gone on with as after a crash, by this program or another. With gently no step starts
// any more and those that run may end; with now they are stopped, and follow their
// on-interrupt later. Run then answers dag.ErrReleased. A run that is being cancelled is
// brought to its end first, unless it is let go now.
func WithRelease(gently, now <-chan struct{}) RunOption {
	return func(o *runOptions) { o.letGo = letGo{gently, now} }
}

// WithAround has f called in place of every step's work, fallbacks and cleanup too;
// f may call r, which is that work: to measure it, or to answer in its place, as
// package flowruntest does.
func WithAround(f func(ctx context.Context, c *dag.Call, r dag.Runner) (dag.Result, error)) RunOption {
	return func(o *runOptions) { o.around = f }
}

// WithoutCache has every step run, whatever results of it are kept. What comes of them
// is kept.
func WithoutCache() RunOption { return func(o *runOptions) { o.afresh = true } }

// WithTrace puts on record what trace a new run is part of. One that is taken up again
// stays part of it; whoever makes spans finds it in the Record.
func WithTrace(c TraceContext) RunOption { return func(o *runOptions) { o.parent = c } }

// Terminal is how a person is reached who answers interactive steps.
type Terminal interface {
	steps.Terminal
	// Stdout says whether what is written to WithStdout's writer is seen on the
	// terminal. What a step has shown there is not written a second time then.
	Stdout() bool
}

// Attachment is a Terminal in the hands of one step.
type Attachment = steps.Attachment

// TerminalSize is the size of a terminal's window.
type TerminalSize = steps.Size

// WithTerminal lets a person answer interactive steps. Without it each gets
// its default response, or the end of its input.
func WithTerminal(t Terminal) RunOption { return func(o *runOptions) { o.terminal = t } }

// StreamChunk is a piece of the output of a step with output.mode: stream.
type StreamChunk = steps.Chunk

// WithStream has f called with the output of steps that say stream-callback: function,
// while they run: one call at a time, in order for each of a step's streams,
// secrets masked. A slow f holds no step up; Run waits for it at the end while it gets
// on. Without WithStream a run with such a step is refused with tool.Diagnostics.
func WithStream(f func(StreamChunk)) RunOption { return func(o *runOptions) { o.stream = f } }

// WithConsole is WithStream for steps that stream to the console, which stream-callback
// says by default. What goes to WithStdout's writer while it is printed, or was shown
// on the terminal, is not among it. Without WithConsole nobody hears them.
func WithConsole(f func(StreamChunk)) RunOption { return func(o *runOptions) { o.console = f } }

// WithQueue has f called when the run has to stand in line for locks, or for other runs
// of its tool to end; again when what it waits for changes; and once more, without
// Obstacles, when its turn has come. One call at a time; a slow f holds the run up.
func WithQueue(f func(QueuePosition)) RunOption { return func(o *runOptions) { o.queued = f } }

// WithApproval has ask called for every question of the run's approve steps, each in a
// goroutine of its own as soon as it is asked; of a run that goes on also for those
// that were open. What it answers is recorded like the answer of anybody else; its Step
// and Wait need not be set. It must return soon after ctx ends, which it does when the question has got
// another answer or is too late to answer, and with the run. While it asks, the run
// waits; with an error, which is ErrNoApprover unless something is wrong, it leaves the
// answer to others. A run of which all that is left waits for others rests: Run returns
// with the status Waiting. Without WithApproval nobody is asked, and without a Store as
// well a step that asks fails.
func WithApproval(ask func(ctx context.Context, q Question) (Answer, error)) RunOption {
	return func(o *runOptions) { o.approval = ask }
}
