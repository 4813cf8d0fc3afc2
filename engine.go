package flowrun

import (
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// New returns an Engine. The StateDir of a program's first Engine also identifies its processes: processes that an
// earlier program with this folder left when it was killed are ended before the first run starts.
func New(c Config) *Engine { return engine.New(c) }

// Engine runs plans. It is safe for concurrent use; runs share its slots. Its methods:
//
//	Run(ctx context.Context, p *Plan, params map[string]any, options ...RunOption) (*Result, error)
//	RunBound(ctx context.Context, a *Args, options ...RunOption) (*Result, error) // what Plan.Bind has checked
//	Continue(ctx context.Context, g *Continuation, options ...RunOption) (*Result, error)
//	Load() (running, queued int)
//
// An error means that the run could not be started or carried out; a step that failed is in the Result.
type Engine = engine.Engine

// Config sets how an Engine runs plans. The zero Config works: it runs dag.DefaultParallel steps at once, writes
// nothing but a private temporary folder for each run, and has no sinks. The fields that most programs set are Parallel,
// StateDir, Store (history.NewMemory, or package history/sqlite), Sinks, Observers, JavaScript and Grace. All of them:
//
//	go doc github.com/flowrun/flowrun/internal/engine.Config
type Config = engine.Config

// ArtifactLimits limit the artifacts of runs. 0 is the default of a limit.
type ArtifactLimits = engine.ArtifactLimits

// Enforcement says for which runs the required-permissions of tools are enforced: their steps are denied everything
// that the permissions do not list.
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
type Observer = engine.Observer

// FetchRequest is a request that a script makes with fetch, or a step of kind http.
type FetchRequest = call.FetchRequest

// FetchAnswer is the response to a FetchRequest.
type FetchAnswer = call.FetchAnswer

// StatusRequest asks Config.HTTP for the status of an address.
type StatusRequest = steps.StatusRequest

// ModelRequest is what a script asks a language model with api.askModel.
type ModelRequest = call.ModelRequest
