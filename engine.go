package flowrun

import (
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// New returns an Engine. The StateDir of a program's first Engine also identifies its processes: processes that an
// earlier program with this folder left when it was killed are ended before the first run starts.
func New(c Config) *Engine { return engine.New(c) }

// Engine runs plans. It is safe for concurrent use; runs share its slots. An error of Run, RunBound or Continue means that the run could not be started or carried out; a step that failed is in the Result.
//
//	type Engine struct {
//		// contains filtered or unexported fields
//	}
//
//	// CompileForeign compiles a definition that others have written.
//	func (e *Engine) CompileForeign(file string, text []byte) (*Plan, error)
//
//	// Continue executes the rest of the run.
//	func (e *Engine) Continue(ctx context.Context, g *Continuation, options ...RunOption) (*Result, error)
//
//	// EndLeftovers ends the processes that killed programs with the StateDir of this one have left, and removes their temporary files that hold values.
//	func (e *Engine) EndLeftovers(ctx context.Context) error
//
//	// ExplainCache compares what the step with that path depends on now with its stored result, and changes nothing.
//	func (e *Engine) ExplainCache(ctx context.Context, p *Plan, path string, params map[string]any, w RunEnv) (*preview.CacheExplanation, error)
//
//	// Join prepares a Share in a run.
//	func (e *Engine) Join(ctx context.Context, p *RecordedRun, lib *library.Library, params map[string]any, texts Texts, states call.StateReader) (*Share, error)
//
//	// Load returns how many steps run now, and how many wait for a slot, over all runs of the Engine.
//	func (e *Engine) Load() (running, queued int)
//
//	// Preview calls Args.PreviewFor with the settings of the engine.
//	func (e *Engine) Preview(a *Args, origin string) (*Preview, error)
//
//	// Run binds params and runs the plan to its end.
//	func (e *Engine) Run(ctx context.Context, p *Plan, params map[string]any, options ...RunOption) (*Result, error)
//
//	// RunBound runs a plan with parameters that are already bound.
//	func (e *Engine) RunBound(ctx context.Context, a *Args, options ...RunOption) (*Result, error)
type Engine = engine.Engine

// Config sets how an Engine runs plans. The zero Config works: it runs dag.DefaultParallel steps at once, writes
// nothing but a private temporary folder for each run, and has no sinks. The fields that most programs set are Parallel,
// StateDir, Store (history.NewMemory, or package history/sqlite), Sinks, Observers, JavaScript and Grace.
//
//	type Config struct {
//		// Parallel limits how many steps run at once, over all runs of the Engine. 0 is dag.DefaultParallel. The
//		// descriptor limit of the machine may lower it.
//		Parallel int
//		// Slots, if set, are shared with other Engines; Parallel then has no effect.
//		Slots *dag.Slots
//		// StateDir is where runs keep files: the logs of a run are in runs/RUN/logs. With "" nothing is kept after Run
//		// has returned, and a Result holds only the first 4 KiB of each step's streams and the run's output.
//		StateDir string
//		// Leftovers is the folder that programs share of which one ends what another left when it was killed: processes, and
//		// temporary files that hold values. "" is StateDir; if that is "" too, nothing is found later.
//		Leftovers string
//		// ToolDir is where tools in JavaScript store variables and files between runs, in a folder for each tool. "" is
//		// the folder tools in StateDir, or none if that is "" too.
//		ToolDir string
//		// Grace is the time between TERM and KILL for a stopped step. 0 is 10 s.
//		Grace time.Duration
//		// Cleanup limits how long cleanup may take after a cancel. 0 is dag.DefaultCleanup.
//		Cleanup time.Duration
//		// Helper is the program to start as the supervisor process for whole process trees; it must call HelperMain. ""
//		// is this program itself if it called HelperMain, else there is no supervisor process.
//		Helper string
//		Store  history.Store // keeps runs; nil keeps nothing
//		Sinks  []dag.Sink    // receive every event of every run
//		// Pools are what steps share with pool:, by name, over all runs of the Store, or without one over all runs of the
//		// Engine. A run with a step that uses another pool is rejected.
//		Pools map[string]history.Pool
//		// Observers are called for every run, see Observer.
//		Observers []Observer
//		// Journal, if set, wraps the journal of every recorded run, to observe it: metrics.Metrics.Journal measures how
//		// long its writes take.
//		Journal func(dag.Journal) dag.Journal
//		// CacheDir stores the results of steps that have a cache, for all runs. Several Engines may share it. "" is the
//		// folder cache in StateDir, or none if that is "" too. NoCache is none.
//		CacheDir string
//		// Artifacts limits the files that are kept of steps. They are in StateDir, or without it in a folder that is removed
//		// with the run.
//		Artifacts ArtifactLimits
//		// Enforce says for which runs the permissions of tools are enforced, in addition to tools that demand it with
//		// security.enforce: EnforceModels, EnforceAlways, or "" for no others.
//		Enforce Enforcement
//		// AllowUnenforced lets runs start although this machine cannot enforce the permissions or limits of their tools.
//		// What it cannot enforce is recorded with the run.
//		AllowUnenforced bool
//		// Foreign, if set, makes this an Engine for definitions that others wrote.
//		Foreign *Foreign
//		// HTTP sends a GET request for steps that wait for an address, and returns the status. It follows redirects as far
//		// as the request allows, and returns when ctx ends. If it is nil, such steps fail. It is a function because net/http
//		// would make every program that embeds the engine some megabytes larger. It must be safe for concurrent use.
//		HTTP func(context.Context, StatusRequest) (status int, err error)
//		// Fetch sends the request of a script's fetch, or of a step of kind http. It is a function for the same reason as
//		// HTTP. A step is not retried after an error with a method Permanent() bool that returns true. If Fetch is nil,
//		// fetch fails in scripts, and so do these steps. It must be safe for concurrent use.
//		Fetch func(context.Context, FetchRequest) (*FetchAnswer, error)
//		// Database connects to a database for a step of kind sql: Open of package steps/sqlclient. It is a function for the same
//		// reason as HTTP. If it is nil, such steps fail. It must be safe for concurrent use.
//		Database func(context.Context, call.DatabaseRequest) (call.Database, error)
//		// Egress serves the network of steps that may reach only some hosts, with a proxy, until stop is called. It is a
//		// function for the same reason as HTTP. If it is nil, tools with such steps are rejected. It must be safe for
//		// concurrent use.
//		Egress func(steps.Egress) (stop func())
//		// MayCall decides whether a script may call a tool with api.callTool that the permissions of its own tool already
//		// name: it returns nil, or the reason why not. Its argument is what Plan.Tools returns, including the tools that
//		// the called tool uses. If it is nil, the call is allowed. It must be safe for concurrent use.
//		MayCall func([]UsedTool) error
//		// AskModel gets the answer of a language model for a script that calls api.askModel. If it is nil, such calls fail.
//		// It must be safe for concurrent use.
//		AskModel func(context.Context, ModelRequest) (answer string, err error)
//		// JavaScript runs the scripts of definitions. The caller closes it. If it is nil, each run has its own Runtime,
//		// with the Helper of this Config.
//		JavaScript *hooks.Runtime
//		// Trace, if set, returns the trace context of one attempt of a step: TRACEPARENT and TRACESTATE of its
//		// environment, which the definition can override. "" leaves a variable unset. It must be safe for concurrent use,
//		// and is called after the sinks have received the start of the attempt.
//		Trace func(run string, step dag.ID, attempt int) (parent, state string)
//	}
type Config = engine.Config

// ArtifactLimits limit the artifacts of runs. 0 is the default of a limit.
//
//	type ArtifactLimits struct {
//		MaxFileSize int64 // bytes of one file; 1 GiB
//		MaxSize     int64 // bytes of all artifacts of a run; 10 GiB
//		MaxFiles    int   // files and folders of one artifact; 10,000
//	}
type ArtifactLimits = engine.ArtifactLimits

// Foreign closes an Engine for definitions that others have written, such as the customers of a server. Such a definition
// is read with Engine.CompileForeign, which opens no file, and run with Engine.Run.
//
// Its steps have the permissions that it lists and that Permissions has too, and nothing else. The machine must be able to
// enforce that: otherwise runs are refused, whatever Config.AllowUnenforced says. Keys that reach beyond the steps are
// rejected (closed-key). RunEnv.Workspace must be set. {HOME} is the workspace, and RunEnv.Env has no effect.
//
//	type Foreign struct {
//		// Permissions are the most that a tool can have, in the form of security.required-permissions, such as
//		// "filesystem:write:." and "network:external:api.example.com". Relative paths start at the workspace. nil grants nothing:
//		// a step can then compute, and use a temporary folder. "tool:NAME" lets definitions use one of the Tools that is written
//		// in Go, which runs in this program without limits.
//		Permissions []string
//		// Tools are those that definitions can use, by their names. No other name and no path leads to a tool.
//		Tools []*tool.Definition
//		// Env are the variables K=V that {env.NAME}, secrets and steps can read. nil is a PATH with the folders of the system.
//		Env []string
//		// Limits are the most that each step can use: the first fields of tool.Resources. A limit of 0 is none.
//		Limits tool.Resources
//		// MaxSteps limits the steps of a plan. 0 is 1000.
//		MaxSteps int
//		// Timeout limits each run. 0 is 10 minutes.
//		Timeout time.Duration
//	}
type Foreign = engine.Foreign

// Enforcement says for which runs the required-permissions of tools are enforced: their steps are denied everything
// that the permissions do not list.
//
//	type Enforcement string
type Enforcement = engine.Enforcement

// Values of Enforcement.
const (
	EnforceModels = engine.EnforceModels
	EnforceAlways = engine.EnforceAlways
)

// NoCache as Config.CacheDir turns off the storing of results.
const NoCache = engine.NoCache

// DefaultStateDir returns the folder in which the flowrun command keeps its state: FLOWRUN_STATE_DIR, else
// $XDG_STATE_HOME/flowrun, else ~/.local/state/flowrun, where ~ is $HOME or the home directory in the user database.
// On Windows it is %LOCALAPPDATA%\flowrun if that is set. Root without a home gets /var/lib/flowrun. It is "" if
// there is no such folder.
func DefaultStateDir() string { return engine.DefaultStateDir() }

// Observer is called when a run starts or is resumed. Its sink gets the events of this run. The Engine calls done when
// it has finished with the run. The run may then still have no end: it waits for an answer, or another process has
// taken it over. Both may be nil. Metrics.Observe of package metrics and Tracer.Observe of package telemetry are
// Observers. An Observer must be safe for concurrent use.
//
//	type Observer = func(history.ObservedRun) (sink dag.Sink, done func())
type Observer = engine.Observer

// FetchRequest is a request that a script makes with fetch, or a step of kind http.
//
//	type FetchRequest struct {
//		Method string // GET, POST ...
//		URL    string
//		Header [][2]string
//		Body   []byte // nil for none
//		// Redirect says how to treat a redirect: follow, error or manual.
//		Redirect string
//		// Allow returns an error if an address may not be requested. It is called for URL, and for the target of every
//		// redirect before it is requested.
//		Allow func(*url.URL) error
//		// Reach returns an error if a connection for a host and port may not go to an IP address. It is not called if a
//		// proxy makes the connection.
//		Reach func(host, port string, to netip.Addr) error
//
//		// The rest is for steps of kind http; the zero values are for scripts.
//		Open func() (io.ReadCloser, int64, error) // opens the body and says its size, in place of Body
//		// Save returns where the body of a response with that status goes. nil, or a nil Writer, means FetchAnswer.Body.
//		Save         func(status int) io.Writer
//		MaxBody      int64 // largest FetchAnswer.Body; 0 = 10 MB
//		MaxRedirects int   // 0 = 20
//		// Guarded means that a redirect to another host gets no headers of the request and no body, and that none leads
//		// from https to http.
//		Guarded bool
//		Wait    time.Duration // until the response starts; 0 = one minute
//		Proxy   string        // URL; "" = that of the environment
//		Direct  bool          // without a proxy, so that Reach is asked about every connection
//		// Certificates in PEM format: those that sign that of the server, in place of the system's, and that of the client.
//		CA, Cert, Key []byte
//	}
type FetchRequest = call.FetchRequest

// FetchAnswer is the response to a FetchRequest.
//
//	type FetchAnswer struct {
//		URL        string // address of the response, after redirects
//		Status     int
//		StatusText string
//		Header     [][2]string
//		Body       []byte
//		Size       int64 // of the body
//	}
type FetchAnswer = call.FetchAnswer

// StatusRequest asks Config.HTTP for the status of an address.
//
//	type StatusRequest struct {
//		URL string
//		// Allow returns an error if an address may not be requested: URL, or the target of a redirect.
//		Allow func(*url.URL) error
//		// Reach returns an error if a connection for a host and port may not go to an IP address. It is not called if a
//		// proxy makes the connection.
//		Reach func(host, port string, to netip.Addr) error
//	}
type StatusRequest = steps.StatusRequest

// ModelRequest is what a script asks a language model with api.askModel.
//
//	type ModelRequest struct {
//		Tool         string // the tool whose script asks
//		Prompt       string
//		SystemPrompt string // "" for none
//		MaxTokens    int64  // how long the answer may be, in the units of the model
//	}
type ModelRequest = call.ModelRequest
