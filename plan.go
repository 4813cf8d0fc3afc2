package flowrun

import (
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/tool"
)

// Compile finds the tool called name (or the file, if name is a path), resolves everything it refers to and checks
// its graph. Errors: a *library.NotFoundError, or tool.Diagnostics with every problem of the tool and of the tools it
// uses.
func Compile(lib *library.Library, name string) (*Plan, error) { return engine.Compile(lib, name) }

// CompileDefinition compiles a definition that the caller has loaded or built; lib finds the tools it uses.
func CompileDefinition(lib *library.Library, def *tool.Definition) (*Plan, error) {
	return engine.CompileDefinition(lib, def)
}

// Plan is a compiled tool: its definition, its graph and everything needed to bind parameters. It is immutable and
// safe for concurrent runs.
//
//	type Plan struct {
//		// Definition is the definition that was compiled. For an alias it is that of the base tool, with the name,
//		// defaults and description of the alias.
//		Definition *tool.Definition
//		// Warnings are problems that did not keep the tool from compiling, those of nested tools included.
//		Warnings tool.Diagnostics
//		// contains filtered or unexported fields
//	}
//
//	// Bind takes a caller's parameters through default, coercion, validation and transform, and returns the final values.
//	func (p *Plan) Bind(w RunEnv, raw map[string]any) (*Args, error)
//
//	// ChangedFiles returns the files of definitions of the plan whose text is another one now.
//	func (p *Plan) ChangedFiles(lib *library.Library) []string
//
//	// Confirmation calls Bind and Args.Confirmation.
//	func (p *Plan) Confirmation(ctx context.Context, w RunEnv, params map[string]any) (*Confirmation, error)
//
//	// Current reports whether compiling the tool again would give the same plan: every name in it still leads to the same definition in the library.
//	func (p *Plan) Current(lib *library.Library) bool
//
//	// Describe calls Bind and Args.Describe.
//	func (p *Plan) Describe(w RunEnv, params map[string]any) (string, error)
//
//	// Given converts values of a definition to parameters of a call.
//	func (p *Plan) Given(list []tool.Entry) map[string]any
//
//	// Graph returns the graph that the plan runs.
//	func (p *Plan) Graph() *dag.Graph
//
//	// Handler returns when the step with that path runs, if it is in a list of handlers: the key of the list (on-success, on-failure or finally) and the step it belongs to, "" for the tool.
//	func (p *Plan) Handler(path string) (key, step string)
//
//	// Interrupt returns what happens to the step with that path if it was running when the program that ran it was killed: retry, ask or fail.
//	func (p *Plan) Interrupt(path string) string
//
//	// KeepsArtifacts reports whether steps of the plan, or of the tools it uses, have artifacts.
//	func (p *Plan) KeepsArtifacts() bool
//
//	// KeepsState reports whether the tool, or one that it uses, keeps values between runs.
//	func (p *Plan) KeepsState() bool
//
//	// LockDemands returns what a run of the plan takes at its start: one of the concurrent runs that its tool allows, and the locks of the tool and of those it uses inside.
//	func (p *Plan) LockDemands() []history.LockDemand
//
//	// Name returns the tool's name.
//	func (p *Plan) Name() string
//
//	// Nested returns the plan of the tool that the step with that path uses, nil for other steps.
//	func (p *Plan) Nested(step string) *Plan
//
//	// Only returns the plan reduced to the step with that path, which may be in a nested tool, and everything it waits for, without handlers.
//	func (p *Plan) Only(path string) (*Plan, error)
//
//	// Place returns where the step with that path is written, the zero Pos if it is not in a file.
//	func (p *Plan) Place(path string) tool.Pos
//
//	// Pool returns the pool of which an attempt of a step of the plan holds a slot, "" for none.
//	func (p *Plan) Pool(step string) string
//
//	// PoolError returns the first step that could never start with these pools: it uses one that is not there, or more slots than it has.
//	func (p *Plan) PoolError(pools map[string]history.Pool) *PoolError
//
//	// PoolsForTests returns pools that are large enough for every step of the plan, for programs that test tools.
//	func (p *Plan) PoolsForTests() map[string]history.Pool
//
//	// Preview calls Bind and Args.Preview.
//	func (p *Plan) Preview(w RunEnv, params map[string]any) (*Preview, error)
//
//	// Questions returns the open questions in the state of a run of the plan, which another program walks.
//	func (p *Plan) Questions(run string, s *dag.State) []history.Question
//
//	// RunAttempts returns how many runs there are at most of a call of the plan's tool, those by which retry-run retries it included: 1 without retry-run.
//	func (p *Plan) RunAttempts() int
//
//	// Secret reports whether a parameter's value is masked: environment.secrets or some masked-values name it.
//	func (p *Plan) Secret(param string) bool
//
//	// Size returns how many steps a run of the plan has.
//	func (p *Plan) Size() int
//
//	// Sources returns the definitions that the plan was compiled from, its own first.
//	func (p *Plan) Sources() []tool.Source
//
//	// StateDefaults returns the values that the tool declares, with their defaults.
//	func (p *Plan) StateDefaults() []history.StateValue
//
//	// StateID identifies the tool, as a Store of its state does.
//	func (p *Plan) StateID() history.StateID
//
//	// Step returns the definition of the step with that path, nil if there is none.
//	func (p *Plan) Step(path string) *tool.Step
//
//	// StepDemands returns what attempts of steps hold while they run, each thing once: locks and slots of pools.
//	func (p *Plan) StepDemands() []history.LockDemand
//
//	// Steps returns the names of the tool's own steps in plan order.
//	func (p *Plan) Steps() []string
//
//	// Supported returns nil if the tool runs on this platform, else an *UnsupportedError.
//	func (p *Plan) Supported() error
//
//	// Tools returns the plan's tool and the tools it uses inside, each once, the outer ones first.
//	func (p *Plan) Tools() []UsedTool
//
//	// Until returns the plan reduced to one step, everything that step waits for, and the handlers of these steps.
//	func (p *Plan) Until(step string) (*Plan, error)
//
//	// Upstream returns the steps that a step waits for directly, without those that another of them waits for.
//	func (p *Plan) Upstream(step string) []string
//
//	// WaitsFor says in one line what a run of the plan waits for that another program walks, and which step failed before; "" if nobody is asked anything.
//	func (p *Plan) WaitsFor(run string, s *dag.State) string
//
//	// WithTimeout returns a copy of the plan whose runs are cancelled after d.
//	func (p *Plan) WithTimeout(d time.Duration) (*Plan, error)
type Plan = engine.Plan

// Args are the bound parameters of a call. They do not change: Engine.RunBound runs exactly what a Preview of them
// showed.
//
//	type Args struct {
//		// contains filtered or unexported fields
//	}
//
//	// All returns every bound value by its name: those of parameters that are not absent, and those of undeclared names, if the tool accepts them.
//	func (a *Args) All() map[string]any
//
//	// CallMocks calls a tool in JavaScript with the mocks of its bridges, and so shows what a call would return.
//	func (a *Args) CallMocks(toolDir string) (*script.MockedCall, error)
//
//	// Confirmation computes what a person sees who is asked to approve the call.
//	func (a *Args) Confirmation(ctx context.Context) (*Confirmation, error)
//
//	// Describe returns one sentence that says what the call would do.
//	func (a *Args) Describe() string
//
//	// Preview computes what a run would do, without starting anything, not even the commands that provide secrets.
//	func (a *Args) Preview() (*Preview, error)
//
//	// PreviewFor is Preview for a run of that origin by an Engine with that Config.Enforce.
//	func (a *Args) PreviewFor(e Enforcement, origin string) (*Preview, error)
//
//	// Record returns what a Store would keep of a run with these parameters, for a program that runs it with a dag.Machine and Shares.
//	func (a *Args) Record(id, origin string, e Enforcement) (*history.Record, error)
//
//	// Value returns a parameter's bound value, nil if it is absent.
//	func (a *Args) Value(name string) any
type Args = engine.Args

// RunEnv is what a run may know of its surroundings. The zero value is that of the process, at the current time.
//
//	type RunEnv struct {
//		Workspace string   // {WORKSPACE}, the directory steps start in; "" = the working directory
//		Home      string   // {HOME}
//		Temp      string   // {TEMP}, the system's temporary directory
//		Env       []string // K=V, the process environment of steps; nil = os.Environ()
//		// Time is when the run starts. {DATE}, {TIME} and {TIMESTAMP} are derived from it, in UTC, for the whole run.
//		Time time.Time
//		// TrustedProject is the folder of the project that the user trusts, "" for none. With EnforceModels, the steps of tools
//		// that do not set security.enforce can read it, whatever their permissions list.
//		TrustedProject string
//		// AllowDash lets all values of callers begin with a dash (run --allow-dash).
//		AllowDash bool
//		// JavaScript runs the scripts of definitions. The caller closes it. If it is nil, an Engine uses its own, and
//		// Plan.Bind and Plan.Preview create one for the duration of the call.
//		JavaScript *hooks.Runtime
//		// State reads the state of tools for previews, such as Store.State. If it is nil, {state.NAME} is shown as it is
//		// written. A run reads the state from the Store of the Engine.
//		State func(context.Context, history.StateID) ([]history.StateValue, error)
//		// contains filtered or unexported fields
//	}
//
//	// Until returns a RunEnv for work that ends when ctx does: Plan.Bind, Args.Preview and the like then return its cause.
//	func (w RunEnv) Until(ctx context.Context) RunEnv
type RunEnv = engine.RunEnv

// Preview describes what a run would do, as far as that is known before it starts.
//
//	type Preview struct {
//		Schema string               `json:"schema"` // flowrun/plan.v1
//		Tool   string               `json:"tool"`
//		Params map[string]any       `json:"params"`          // secrets are masked
//		Steps  []PreviewStep        `json:"steps"`           // in plan order, nested ones after the step that contains them
//		Tools  []PreviewTool        `json:"tools"`           // the tool itself and those it uses, by step
//		Needs  []history.LockDemand `json:"needs,omitempty"` // the locks that the run takes at its start
//		// MissingSecrets are the secrets of the tool that cannot be fetched, each with the reason.
//		MissingSecrets []string `json:"missing_secrets,omitempty"`
//		// Notices are what people should know of the run before it starts; see LimitParallel.
//		Notices []dag.Notice `json:"notices,omitempty"`
//	}
//
//	// LimitParallel adds a notice for each loop of which fewer items run at once than its max-parallel says, because only most steps run at once.
//	func (p *Preview) LimitParallel(most int)
//
//	// Permissions returns the permissions that the tools ask for, each once, with real paths.
//	func (p *Preview) Permissions() []string
type Preview = preview.Preview

// UsedTool is a tool that a plan runs.
//
//	type UsedTool struct {
//		Path       string // of the first step that uses it; "" for the plan's own
//		Definition *tool.Definition
//	}
type UsedTool = plan.UsedTool

// ParamsError reports everything that is wrong with the parameters of one call.
//
//	type ParamsError struct {
//		Tool     string
//		Problems []ParamProblem
//	}
//
//	func (e *ParamsError) Error() string
type ParamsError = value.ParamsError

// ParamProblem describes what is wrong with one parameter. Code is one of missing, unknown, type, validation,
// transform, default, nul, dash, refused, withheld, recorded, changed.
//
//	type ParamProblem struct {
//		Name    string `json:"name"` // with the path to the value inside it, as in opts[0].name; "" for a problem with all parameters together
//		Code    string `json:"code"`
//		Message string `json:"message"`
//		Hint    string `json:"hint,omitempty"`
//		// contains filtered or unexported fields
//	}
//
//	// Parameter returns the name of the parameter, "" if the problem is about all of them.
//	func (p ParamProblem) Parameter() string
//
//	// Subject returns what the problem is about: "parameter NAME", or the flag --params.
//	func (p ParamProblem) Subject() string
type ParamProblem = value.ParamProblem

// StepError reports that a plan has no step of that name.
//
//	type StepError struct {
//		Tool, Step string
//		Near       []string // similar paths
//		Steps      []string // the paths of all steps
//	}
//
//	func (e *StepError) Error() string
type StepError = plan.StepError
