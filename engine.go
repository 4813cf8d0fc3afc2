package flowrun

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/cache"
	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/home"
	"github.com/flowrun/flowrun/internal/preview"
	"github.com/flowrun/flowrun/internal/proc"
	"github.com/flowrun/flowrun/internal/procid"
)

// NoCache as Config.CacheDir keeps no results.
const NoCache = "-"

// cacheOf is the store of a Config, opened when it is first needed; nil for none.
func cacheOf(c Config) func() (*cache.Store, error) {
	dir := c.cacheDir()
	if dir == "" {
		return nil
	}
	return sync.OnceValues(func() (*cache.Store, error) { return cache.Open(dir) })
}

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
	Sinks  []dag.Sink // called with every event of every run
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

// Run binds params and runs the plan to its end. A run that failed, timed out or
// was cancelled is a Result with that status and no error. Errors: a *ParamsError,
// an *EnvironmentError, an *UnsupportedError, a *NoLineError, or what kept the engine from doing its job; where the run
// had begun, the Result tells how far it came.
func (e *Engine) Run(ctx context.Context, p *Plan, params map[string]any, options ...RunOption) (*Result, error) {
	j := &job{plan: p.compiled}
	for _, opt := range options {
		opt(&j.runOptions)
	}
	if j.id == "" {
		j.id = NewID(time.Now())
	}
	w, done := e.scripts(j.env.filled())
	defer done()
	bound, err := call.Bind(ctx, p.compiled, w, params)
	if err != nil {
		return nil, err
	}
	j.args = bound.Frame()
	return e.run(ctx, j)
}

// RunBound runs a plan with parameters that are bound already, as Run does; WithRunEnv has no
// effect. {TIME} and the like are the moment at which they were bound.
func (e *Engine) RunBound(ctx context.Context, a *Args, options ...RunOption) (*Result, error) {
	j := &job{plan: a.bound.Plan, args: a.bound.Frame(), created: time.Now().UTC()}
	for _, opt := range options {
		opt(&j.runOptions)
	}
	if j.id == "" {
		j.id = NewID(time.Now())
	}
	var done func()
	j.args.RunEnv, done = e.scripts(a.bound.RunEnv)
	defer done()
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

// ExplainCache compares what the step with that path depends on now with its kept
// result, and changes nothing. Errors: those of Plan.Bind, a *StepError, a
// *NotCachedError, an input that cannot be read.
func (e *Engine) ExplainCache(ctx context.Context, p *Plan, path string, params map[string]any, w RunEnv) (*CacheExplanation, error) {
	a, err := w.bind(p.compiled, params)
	if err != nil {
		return nil, err
	}
	return preview.ExplainCache(ctx, a, path, e.config.cacheDir())
}

// cacheDir is where results are kept, "" for nowhere.
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
	return &call.Caching{Open: e.cache, Afresh: afresh}
}

// toolDir is where the Engine's tools keep what they keep, "" for nowhere.
func (e *Engine) toolDir() string {
	if e.config.ToolDir == "" && e.config.StateDir != "" {
		return filepath.Join(e.config.StateDir, "tools")
	}
	return e.config.ToolDir
}

// scripts is a world that runs JavaScript for the time of a run: with the Engine's Runtime
// where it has one, else with one that lasts until done is called.
func (e *Engine) scripts(w *call.RunEnv) (own *call.RunEnv, done func()) {
	run := *w
	run.Fetch, run.MayCall = e.config.Fetch, e.config.MayCall
	if run.JavaScript == nil {
		run.JavaScript = e.config.JavaScript
	}
	return run.WithScripts(hooks.Config{Helper: e.config.Helper})
}
