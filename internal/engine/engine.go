package engine

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/limitednet"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/library"
)

// NoCache as Config.CacheDir turns off the storing of results.
const NoCache = "-"

// cacheOf returns a function that opens the cache of a Config on first use, or nil if it has none.
func cacheOf(c Config) func() (*cache.Store, error) {
	dir := c.cacheDir()
	if dir == "" {
		return nil
	}
	return sync.OnceValues(func() (*cache.Store, error) { return cache.Open(dir) })
}

// Config sets how an Engine runs plans. The zero Config works: it runs dag.DefaultParallel steps at once, writes
// nothing but a private temporary folder for each run, and has no sinks.
type Config struct {
	// Parallel limits how many steps run at once, over all runs of the Engine. 0 is dag.DefaultParallel. The
	// descriptor limit of the machine may lower it.
	Parallel int
	// Slots, if set, are shared with other Engines; Parallel then has no effect.
	Slots *dag.Slots
	// StateDir is where runs keep files: the logs of a run are in runs/RUN/logs. With "" nothing is kept after Run
	// has returned, and a Result holds only the first 4 KiB of each step's streams and the run's output.
	StateDir string
	// Leftovers is the folder that programs share of which one ends what another left when it was killed: processes, and
	// temporary files that hold values. "" is StateDir; if that is "" too, nothing is found later.
	Leftovers string
	// ToolDir is where tools in JavaScript store variables and files between runs, in a folder for each tool. "" is
	// the folder tools in StateDir, or none if that is "" too.
	ToolDir string
	// Grace is the time between TERM and KILL for a stopped step. 0 is 10 s.
	Grace time.Duration
	// Cleanup limits how long cleanup may take after a cancel. 0 is dag.DefaultCleanup.
	Cleanup time.Duration
	// Helper is the program to start as the supervisor process for whole process trees; it must call HelperMain. ""
	// is this program itself if it called HelperMain, else there is no supervisor process.
	Helper string
	Store  history.Store // keeps runs; nil keeps nothing
	Sinks  []dag.Sink    // receive every event of every run
	// Pools are what steps share with pool:, by name, over all runs of the Store, or without one over all runs of the
	// Engine. A run with a step that uses another pool is rejected.
	Pools map[string]history.Pool
	// Observers are called for every run, see Observer.
	Observers []Observer
	// Journal, if set, wraps the journal of every recorded run, to observe it: metrics.Metrics.Journal measures how
	// long its writes take.
	Journal func(dag.Journal) dag.Journal
	// CacheDir stores the results of steps that have a cache, for all runs. Several Engines may share it. "" is the
	// folder cache in StateDir, or none if that is "" too. NoCache is none.
	CacheDir string
	// Artifacts limits the files that are kept of steps. They are in StateDir, or without it in a folder that is removed
	// with the run.
	Artifacts ArtifactLimits
	// Enforce says for which runs the permissions of tools are enforced, in addition to tools that demand it with
	// security.enforce: EnforceModels, EnforceAlways, or "" for no others.
	Enforce Enforcement
	// AllowUnenforced lets runs start although this machine cannot enforce the permissions or limits of their tools.
	// What it cannot enforce is recorded with the run.
	AllowUnenforced bool
	// Foreign, if set, makes this an Engine for definitions that others wrote.
	Foreign *Foreign
	// HTTP sends a GET request for steps that wait for an address, and returns the status. It follows redirects as far
	// as the request allows, and returns when ctx ends. If it is nil, such steps fail. It is a function because net/http
	// would make every program that embeds the engine some megabytes larger. It must be safe for concurrent use.
	HTTP func(context.Context, steps.StatusRequest) (status int, err error)
	// Fetch sends the request of a script's fetch, or of a step of kind http. It is a function for the same reason as
	// HTTP. A step is not retried after an error with a method Permanent() bool that returns true. If Fetch is nil,
	// fetch fails in scripts, and so do these steps. It must be safe for concurrent use.
	Fetch func(context.Context, call.FetchRequest) (*call.FetchAnswer, error)
	// Database connects to a database for a step of kind sql: Open of package steps/sqlclient. It is a function for the same
	// reason as HTTP. If it is nil, such steps fail. It must be safe for concurrent use.
	Database func(context.Context, call.DatabaseRequest) (call.Database, error)
	// Egress serves the network of steps that may reach only some hosts, with a proxy, until stop is called. It is a
	// function for the same reason as HTTP. If it is nil, tools with such steps are rejected. It must be safe for
	// concurrent use.
	Egress func(limitednet.Egress) (stop func())
	// MayCall decides whether a script may call a tool with api.callTool that the permissions of its own tool already
	// name: it returns nil, or the reason why not. Its argument is what Plan.Tools returns, including the tools that
	// the called tool uses. If it is nil, the call is allowed. It must be safe for concurrent use.
	MayCall func([]plan.UsedTool) error
	// AskModel gets the answer of a language model for a script that calls api.askModel. If it is nil, such calls fail.
	// It must be safe for concurrent use.
	AskModel func(context.Context, call.ModelRequest) (answer string, err error)
	// JavaScript runs the scripts of definitions. The caller closes it. If it is nil, each run has its own Runtime,
	// with the Helper of this Config.
	JavaScript *hooks.Runtime
	// Trace, if set, returns the trace context of one attempt of a step: TRACEPARENT and TRACESTATE of its
	// environment, which the definition can override. "" leaves a variable unset. It must be safe for concurrent use,
	// and is called after the sinks have received the start of the attempt.
	Trace func(run string, step dag.ID, attempt int) (parent, state string)
}

// ArtifactLimits limit the artifacts of runs. 0 is the default of a limit.
type ArtifactLimits struct {
	MaxFileSize int64 // bytes of one file; 1 GiB
	MaxSize     int64 // bytes of all artifacts of a run; 10 GiB
	MaxFiles    int   // files and folders of one artifact; 10,000
}

// artifactState returns a function that returns the state folder of a run's artifacts.
func (e *Engine) artifactState(j *job) func() (string, error) {
	if e.config.StateDir != "" {
		return func() (string, error) { return e.config.StateDir, nil }
	}
	return j.session.PrivateFolder
}

// Enforcement says for which runs the required-permissions of tools are enforced: their steps are denied everything
// that the permissions do not list.
type Enforcement string

// Values of Enforcement.
const (
	EnforceModels Enforcement = "models" // runs that a model's call started
	EnforceAlways Enforcement = "always"
)

// Observer is called when a run starts or is resumed. Its sink gets the events of this run. The Engine calls done when
// it has finished with the run. The run may then still have no end: it waits for an answer, or another process has
// taken it over. Both may be nil. Metrics.Observe of package metrics and Tracer.Observe of package telemetry are
// Observers. An Observer must be safe for concurrent use.
type Observer = func(history.ObservedRun) (sink dag.Sink, done func())

// Load returns how many steps run now, and how many wait for a slot, over all runs of the Engine.
func (e *Engine) Load() (running, queued int) { return e.slots.Load() }

// Engine runs plans. It is safe for concurrent use; runs share its slots.
type Engine struct {
	config Config
	domain procid.Domain // of its processes
	slots  *dag.Slots
	cache  func() (*cache.Store, error)     // nil: none
	local  *history.LocalQueue              // of the runs of an Engine without a Store
	closed func() (*library.Library, error) // see Foreign.library

	swept    sync.Once // see sweepOnce
	sweeping sync.WaitGroup
}

// New returns an Engine. What programs with its Config.Leftovers left when they were killed is ended before its first run
// starts.
func New(c Config) *Engine {
	n := c.Parallel
	if n <= 0 {
		n = dag.DefaultParallel()
	}
	n = min(n, proc.MaxParallel())
	if c.Slots == nil {
		c.Slots = dag.NewSlots(n)
	}
	return &Engine{config: c, domain: procid.DomainOf(cmp.Or(c.Leftovers, c.StateDir)), slots: c.Slots, cache: cacheOf(c), local: history.NewLocalQueue(),
		closed: sync.OnceValues(c.Foreign.library)}
}

// Run binds params and runs the plan to its end. A run that failed, timed out or was cancelled is a Result with that
// status, and no error. Errors: a *ParamsError, an *EnvironmentError, an *UnsupportedError, a *PoolError, a
// *ConfinementError, or what kept the engine from doing its work; if the run had started, the Result shows how far it
// came.
func (e *Engine) Run(ctx context.Context, p *Plan, params map[string]any, options ...RunOption) (*runresult.Result, error) {
	j := &job{plan: p.compiled}
	for _, opt := range options {
		opt(&j.runOptions)
	}
	if e.config.Foreign != nil {
		if j.env.Workspace == "" {
			return nil, errors.New("cannot run a definition of others without a workspace: set it with WithRunEnv")
		}
		j.env.Home, j.env.TrustedProject = j.env.Workspace, ""
	}
	if j.id == "" {
		j.id = history.NewID(time.Now())
	}
	w, done := e.scripts(j.env.filled(), &j.runOptions)
	defer done()
	bound, err := call.Bind(ctx, p.compiled, w, params)
	if err != nil {
		return nil, err
	}
	j.args = bound.Frame()
	return e.run(ctx, j)
}

// RunBound runs a plan with parameters that are already bound. It works like Run, but WithRunEnv has no effect, and
// {TIME} and the like are the moment of binding.
func (e *Engine) RunBound(ctx context.Context, a *Args, options ...RunOption) (*runresult.Result, error) {
	if e.config.Foreign != nil { // the parameters may have values of the environment
		return nil, errors.New("cannot run bound parameters with Config.Foreign: use Run")
	}
	j := &job{plan: a.bound.Plan, args: a.bound.Frame(), created: time.Now().UTC()}
	for _, opt := range options {
		opt(&j.runOptions)
	}
	if j.id == "" {
		j.id = history.NewID(time.Now())
	}
	var done func()
	j.args.RunEnv, done = e.scripts(a.bound.RunEnv, &j.runOptions)
	defer done()
	return e.run(ctx, j)
}

// DefaultStateDir returns the folder in which the flowrun command keeps its state: FLOWRUN_STATE_DIR, else
// $XDG_STATE_HOME/flowrun, else ~/.local/state/flowrun, where ~ is $HOME or the home directory in the user database.
// On Windows it is %LOCALAPPDATA%\flowrun if that is set. Root without a home gets /var/lib/flowrun. It is "" if
// there is no such folder.
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

// ExplainCache compares what the step with that path depends on now with its stored result, and changes nothing.
// Errors: those of Plan.Bind, a *StepError, a *NotCachedError, an input that cannot be read.
func (e *Engine) ExplainCache(ctx context.Context, p *Plan, path string, params map[string]any, w RunEnv) (*preview.CacheExplanation, error) {
	a, err := w.bind(p.compiled, params)
	if err != nil {
		return nil, err
	}
	return preview.ExplainCache(ctx, a, path, e.config.cacheDir())
}

// cacheDir returns the folder for cached results, "" for none.
func (c *Config) cacheDir() string {
	switch {
	case c.CacheDir == NoCache, c.CacheDir == "" && c.StateDir == "":
		return ""
	case c.CacheDir == "":
		return filepath.Join(c.StateDir, "cache")
	}
	return c.CacheDir
}

func (e *Engine) caching(afresh bool) *call.Caching {
	if e.cache == nil {
		return nil
	}
	return &call.Caching{Open: e.cache, NoReuse: afresh}
}

// toolDir returns the folder in which tools store data between runs, "" for none.
func (e *Engine) toolDir() string {
	if e.config.ToolDir == "" && e.config.StateDir != "" {
		return filepath.Join(e.config.StateDir, "tools")
	}
	return e.config.ToolDir
}

// scripts returns a copy of w that can run JavaScript during a run: with the Engine's Runtime if it has one, else
// with one that lasts until done is called. The options of the run replace those of the Config.
func (e *Engine) scripts(w *call.RunEnv, o *runOptions) (own *call.RunEnv, done func()) {
	run := *w
	if f := e.config.Foreign; f != nil {
		run.Env = f.env()
		run.Filled()
	}
	run.Fetch, run.Database, run.MayCall, run.Model = e.config.Fetch, e.config.Database, e.config.MayCall, &call.Model{Answers: e.config.AskModel}
	if o.mayCall != nil {
		run.MayCall = o.mayCall
	}
	if o.askModel != nil {
		run.Model.Answers = o.askModel
	}
	if run.JavaScript == nil {
		run.JavaScript = e.config.JavaScript
	}
	return run.WithScripts(hooks.Config{Helper: e.config.Helper})
}
