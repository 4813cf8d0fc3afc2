package flowrun

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/cache"
	"github.com/flowrun/flowrun/internal/home"
	"github.com/flowrun/flowrun/internal/proc"
	"github.com/flowrun/flowrun/internal/procid"
	"github.com/flowrun/flowrun/steps"
)

// Config is how an Engine runs plans. The zero Config works: as many steps at
// once as dag.DefaultParallel says, nothing written but a private temporary
// folder for each run, nobody watching.
type Config struct {
	// Parallel bounds how many steps run at once, over all runs of the Engine.
	// 0 is dag.DefaultParallel; what the machine's descriptor limit allows is a
	// bound as well.
	Parallel int
	// Slots, where set, are shared with other Engines: then Parallel has no effect.
	Slots *dag.Slots
	// StateDir keeps what runs leave behind: the logs of a run under
	// runs/RUN/logs. "" keeps nothing after Run has returned; then a Result holds
	// the first 4 KiB of each step's streams and the run's output.
	StateDir string
	// ToolDir keeps what tools in JavaScript keep between runs, variables and storage, in a
	// folder for each tool. "" is the folder tools in StateDir, or none where that is "" too.
	ToolDir string
	// Grace is how long a stopped step may take to end after TERM before it is
	// killed. 0 is 10 s.
	Grace time.Duration
	// Cleanup bounds what runs after a cancel. 0 is dag.DefaultCleanup.
	Cleanup time.Duration
	// Helper is the program to start as the helper process that supervises whole
	// process trees; it must call HelperMain. "" is this program itself where it
	// called HelperMain, else no helper.
	Helper string
	Store  Store      // keeps runs; nil: nothing is kept
	Sinks  []dag.Sink // told of every event of every run
	// Journal, where set, is put around the journal of every run that is kept, to
	// watch it: metrics.Metrics.Journal measures how long it takes.
	Journal func(dag.Journal) dag.Journal
	// CacheDir keeps the results of steps that have a cache, for all runs; several
	// Engines may share it. "" is the folder cache in StateDir, or none where that is
	// "" too. NoCache is none.
	CacheDir string
	// HTTP asks an address with GET, for steps that wait for one, and answers the
	// status; it follows redirects, and gives up when ctx ends. nil: such steps fail. It
	// is not here because net/http would make every program that embeds the engine
	// some megabytes larger. It is called by many goroutines at once.
	HTTP func(ctx context.Context, url string) (status int, err error)
	// Fetch asks an address for a script that may have it; package net/http is not here for
	// the same reason. nil: fetch fails in scripts. It is called by many goroutines at once.
	Fetch func(context.Context, FetchRequest) (*FetchAnswer, error)
	// MayCall says whether a script may call a tool by api.callTool that the permissions of
	// its own tool name: nil, or why not. It gets what Plan.Tools returns, those that the tool
	// uses among them. nil: it may. Safe for concurrent use.
	MayCall func([]UsedTool) error
	// JavaScript runs the scripts of definitions; whoever gives it closes it. nil: each run
	// has a Runtime of its own, with the helper program of this Config.
	JavaScript *hooks.Runtime
	// Trace, where set, tells steps the trace they are part of: what it answers for a
	// try of a step becomes TRACEPARENT and TRACESTATE of its environment, beneath what
	// the definition sets; "" leaves a variable alone. It is called from several
	// goroutines at once, after the sinks were told that the try starts.
	Trace func(run string, step dag.ID, attempt int) (parent, state string)
}

// Load is how many steps run and how many could if there were slots for them, over
// all runs of the Engine.
func (e *Engine) Load() (running, queued int) { return e.slots.Load() }

// Engine runs plans. It is safe for concurrent use; runs share its slots.
type Engine struct {
	config Config
	slots  *dag.Slots
	cache  func() (*cache.Store, error) // nil: none
}

// New makes an Engine. The StateDir of a program's first Engine is where its processes
// belong: those that another program of that folder left when it was killed are ended
// before the first run begins.
func New(c Config) *Engine {
	n := c.Parallel
	if n <= 0 {
		n = dag.DefaultParallel()
	}
	if most := proc.MaxParallel(); most > 0 {
		n = min(n, most)
	}
	procid.SetPlace(c.StateDir)
	if c.Slots == nil {
		c.Slots = dag.NewSlots(n)
	}
	return &Engine{config: c, slots: c.Slots, cache: cacheOf(c)}
}

// RunOption changes one run.
type RunOption func(*runOptions)

type runOptions struct {
	id     string
	origin string
	begun  func()
	world  World
	sinks  []dag.Sink
	stdout io.Writer
	force  <-chan struct{}
	letGo  letGo
	around func(context.Context, *dag.Call, dag.Runner) (dag.Result, error)
	afresh bool
	parent TraceContext

	approval func(context.Context, Question) (Answer, error)

	terminal        Terminal
	console, stream func(StreamChunk)
	queued          func(Queued)
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

// WithBegun has f called once, as soon as the run is on record for good: what happens
// to the machine from then on, the run can be found and taken up. It is called before the
// first step, and not at all where the run is refused or the engine has no Store. For a
// run that goes on it is called as soon as this engine has it; one whose context f
// cancels is cancelled before anything of it runs again.
func WithBegun(f func()) RunOption { return func(o *runOptions) { o.begun = f } }

// WithWorld sets the run's surroundings: directory, environment, time.
func WithWorld(w World) RunOption { return func(o *runOptions) { o.world = w } }

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

// TraceContext is W3C's trace context in the form of its variables, TRACEPARENT and
// TRACESTATE; both are "" for none.
type TraceContext struct {
	Parent string `json:"parent,omitempty"`
	State  string `json:"state,omitempty"`
}

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

// WithTerminal lets a person answer interactive steps (S1-201). Without it each gets
// its default response, or the end of its input.
func WithTerminal(t Terminal) RunOption { return func(o *runOptions) { o.terminal = t } }

// StreamChunk is a piece of the output of a step with output.mode: stream.
type StreamChunk = steps.Chunk

// WithStream has f called with the output of steps that say stream-callback: function
// (S1-046), while they run: one call at a time, in order for each of a step's streams,
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
func WithQueue(f func(Queued)) RunOption { return func(o *runOptions) { o.queued = f } }

// UnsupportedError says that a tool does not run on this platform (S1-225).
type UnsupportedError struct {
	Tool      string
	Platforms []string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("tool %s runs on %s only; this is %s", e.Tool, strings.Join(e.Platforms, ", "), platform())
}

// Supported says whether the tool runs on this platform (S1-225); the error is an
// *UnsupportedError.
func (p *Plan) Supported() error {
	list := p.Definition.Platforms
	if len(list) == 0 || slices.Contains(list, platform()) {
		return nil
	}
	return &UnsupportedError{Tool: p.Name(), Platforms: list}
}

// Run binds params and runs the plan to its end. A run that failed, timed out or
// was cancelled is a Result with that status and no error. Errors: a *ParamsError,
// an *EnvironmentError, an *UnsupportedError, a *NoLineError, or what kept the engine from doing its job; where the run
// had begun, the Result tells how far it came.
func (e *Engine) Run(ctx context.Context, p *Plan, params map[string]any, options ...RunOption) (*Result, error) {
	j := &job{plan: p}
	for _, opt := range options {
		opt(&j.runOptions)
	}
	if j.id == "" {
		j.id = NewID(time.Now())
	}
	w := j.world.filled()
	defer e.scripts(w)()
	values := make(map[string]given, len(params))
	for k, v := range params {
		values[k] = given{v: v}
	}
	var err error
	if j.args, err = p.bind(ctx, w, values); err != nil {
		return nil, err
	}
	return e.run(ctx, j)
}

// DefaultStateDir is where the flowrun command keeps its state:
// FLOWRUN_STATE_DIR, else $XDG_STATE_HOME/flowrun, else ~/.local/state/flowrun, where ~ is
// $HOME or what the user database says. Root without a home has /var/lib/flowrun. It is ""
// where there is no place.
func DefaultStateDir() string {
	if d := os.Getenv("FLOWRUN_STATE_DIR"); d != "" {
		return d
	}
	if d := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "flowrun")
	}
	at, err := home.Dir()
	if err != nil {
		if os.Geteuid() == 0 {
			return "/var/lib/flowrun"
		}
		return ""
	}
	if runtime.GOOS == "windows" {
		if d := os.Getenv("LOCALAPPDATA"); d != "" {
			return filepath.Join(d, "flowrun")
		}
	}
	return filepath.Join(at, ".local", "state", "flowrun")
}
