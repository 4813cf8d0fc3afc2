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
	"github.com/flowrun/flowrun/internal/helper"
	"github.com/flowrun/flowrun/internal/proc"
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
	// StateDir keeps what runs leave behind: the logs of a run under
	// runs/RUN/logs. "" keeps nothing after Run has returned; then a Result holds
	// the first 4 KiB of each step's streams and the run's output.
	StateDir string
	// Grace is how long a stopped step may take to end after TERM before it is
	// killed. 0 is 10 s.
	Grace time.Duration
	// Cleanup bounds what runs after a cancel. 0 is dag.DefaultCleanup.
	Cleanup time.Duration
	// Helper is the program to start as the helper process that supervises whole
	// process trees; it must call HelperMain. "" is this program itself where it
	// called HelperMain, else no helper.
	Helper  string
	Journal dag.Journal // nil: events are not kept
	Sinks   []dag.Sink  // told of every event of every run
}

// Engine runs plans. It is safe for concurrent use; runs share its slots.
type Engine struct {
	config Config
	slots  *dag.Slots
}

// New makes an Engine.
func New(c Config) *Engine {
	n := c.Parallel
	if n <= 0 {
		n = dag.DefaultParallel()
	}
	if most := proc.MaxParallel(); most > 0 {
		n = min(n, most)
	}
	return &Engine{config: c, slots: dag.NewSlots(n)}
}

// RunOption changes one run.
type RunOption func(*runOptions)

type runOptions struct {
	id     string
	world  World
	sinks  []dag.Sink
	stdout io.Writer
	force  <-chan struct{}
}

// WithID gives the run an id instead of a new one.
func WithID(id string) RunOption { return func(o *runOptions) { o.id = id } }

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

// UnsupportedError says that a tool does not run on this platform (S1-225).
type UnsupportedError struct {
	Tool      string
	Platforms []string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("tool %s runs on %s only; this is %s", e.Tool, strings.Join(e.Platforms, ", "), platform())
}

func (p *Plan) supported() error {
	list := p.Definition.Platforms
	if len(list) == 0 || slices.Contains(list, platform()) {
		return nil
	}
	return &UnsupportedError{Tool: p.Name(), Platforms: list}
}

// Run binds params and runs the plan to its end. A run that failed, timed out or
// was cancelled is a Result with that status and no error. Errors: a *ParamsError,
// an *UnsupportedError, or what kept the engine from doing its job; where the run
// had begun, the Result tells how far it came.
func (e *Engine) Run(ctx context.Context, p *Plan, params map[string]any, options ...RunOption) (*Result, error) {
	var o runOptions
	for _, opt := range options {
		opt(&o)
	}
	if err := p.supported(); err != nil {
		return nil, err
	}
	if o.id == "" {
		o.id = NewID(time.Now())
	}
	w := o.world.filled()
	values := make(map[string]given, len(params))
	for k, v := range params {
		values[k] = given{v: v}
	}
	args, err := p.bind(w, values)
	if err != nil {
		return nil, err
	}
	return e.run(ctx, p, args, &o)
}

// run is Run with bound arguments.
func (e *Engine) run(ctx context.Context, p *Plan, args *Args, o *runOptions) (res *Result, err error) {
	live := newLive(p, o.stdout)
	so := steps.Options{Run: o.id, Env: args.world.Env, Grace: e.config.Grace, Force: o.force, Host: e.host(o.id),
		Follow: live.follow, Notify: live.notify}
	if e.config.StateDir != "" {
		so.LogDir = filepath.Join(e.config.StateDir, "runs", o.id, "logs")
	}
	session, err := steps.Open(so)
	if err != nil {
		return nil, err
	}
	if err := args.begin(session, o.id, ""); err != nil {
		session.Close(ctx)
		return nil, args.withoutSecrets(err)
	}
	state, err := dag.Run(ctx, p.graph, args, dag.Options{
		ID: o.id, Slots: e.slots, Journal: e.config.Journal, Sinks: slices.Concat(e.config.Sinks, o.sinks),
		Cleanup: e.config.Cleanup, Force: o.force,
	})
	res = newResult(o.id, p, args, state)
	if outErr := live.finish(res); err == nil {
		err = outErr
	}
	notices, closeErr := session.Close(context.WithoutCancel(ctx))
	res.Notices = append(live.notices, notices...)
	if err == nil {
		err = closeErr
	}
	return res, err
}

// host is what starts the run's processes: this process where it is the reaper
// of orphans itself (the flowrun command) or where there is no helper.
func (e *Engine) host(run string) proc.Host {
	if proc.IsReaper() || e.config.Helper == "" && !helper.Enabled() {
		return proc.Open(run)
	}
	return helper.New(run, e.config.Helper)
}

// DefaultStateDir is where the flowrun command keeps its state:
// FLOWRUN_STATE_DIR, else $XDG_STATE_HOME/flowrun, else ~/.local/state/flowrun.
func DefaultStateDir() string {
	if d := os.Getenv("FLOWRUN_STATE_DIR"); d != "" {
		return d
	}
	if d := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "flowrun")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	if runtime.GOOS == "windows" {
		if d := os.Getenv("LOCALAPPDATA"); d != "" {
			return filepath.Join(d, "flowrun")
		}
	}
	return filepath.Join(home, ".local", "state", "flowrun")
}
