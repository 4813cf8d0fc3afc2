package flowrun

import (
	"context"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/buildinfo"
	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/compile"
	"github.com/flowrun/flowrun/internal/graph"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/internal/preview"
	"github.com/flowrun/flowrun/internal/script"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// Plan is a compiled tool: its definition, its graph and everything needed to
// bind parameters. It is immutable and may be run any number of times at once.
type Plan struct {
	// Definition is what was compiled; for an alias the base tool's with the
	// alias's name, defaults and description.
	Definition *tool.Definition
	// Warnings are problems that did not keep the tool from compiling, in nested
	// tools too.
	Warnings tool.Diagnostics

	compiled *plan.Plan
}

// planOf is a plan as embedders see it, nil for nil.
func planOf(p *plan.Plan) *Plan {
	if p == nil {
		return nil
	}
	return &Plan{Definition: p.Definition, Warnings: p.Warnings, compiled: p}
}

// Compile finds the tool called name (or the file, when name is a path), resolves
// everything it mentions and checks its graph. Errors: a *tool.NotFoundError, or
// tool.Diagnostics with every problem of the tool and of the tools it uses.
func Compile(lib *tool.Library, name string) (*Plan, error) {
	p, err := compile.Tool(lib, buildinfo.Release(), name)
	return planOf(p), err
}

// CompileDefinition compiles a definition that was loaded or made by the caller;
// lib finds the tools it uses.
func CompileDefinition(lib *tool.Library, def *tool.Definition) (*Plan, error) {
	p, err := compile.Definition(lib, buildinfo.Release(), def)
	return planOf(p), err
}

// Name is the tool's name.
func (p *Plan) Name() string { return p.compiled.Name() }

// Sources are the definitions it was compiled from, its own first: compiled from a
// tool.Library.Snapshot of them it is the same. Those made in Go are not among them.
func (p *Plan) Sources() []tool.Source { return slices.Clone(p.compiled.Sources) }

// Graph is the graph the plan runs.
func (p *Plan) Graph() *dag.Graph { return p.compiled.Graph }

// Steps are the names of the tool's own steps in plan order.
func (p *Plan) Steps() []string {
	list := make([]string, len(p.compiled.Steps))
	for i, s := range p.compiled.Steps {
		list[i] = s.Def.Name
	}
	return list
}

// Until is the plan cut down to one step and everything that step waits for, with the
// handlers of these steps. The error is a *StepError.
func (p *Plan) Until(step string) (*Plan, error) {
	cut, err := graph.Until(p.compiled, step)
	return planOf(cut), err
}

// Only is the plan cut down to the step with that path, which may lie in a nested
// tool, and everything it waits for. The error is a *StepError.
func (p *Plan) Only(path string) (*Plan, error) {
	cut, err := graph.Only(p.compiled, path)
	return planOf(cut), err
}

// Step is the definition of the step with that path, nil when there is none.
func (p *Plan) Step(path string) *tool.Step { return p.compiled.Step(path) }

// Nested is the plan of the tool that the step with that path uses, nil for other
// steps.
func (p *Plan) Nested(step string) *Plan { return planOf(p.compiled.Nested(step)) }

// Place is where the step with that path is written, the zero Pos when it is not
// in a file.
func (p *Plan) Place(path string) tool.Pos { return p.compiled.Place(path) }

// Handler says when the step with that path runs, where it is one of a list of handlers:
// the key of the list (on-success, on-failure or finally) and the step it belongs to, ""
// for the tool. For other steps both are "".
func (p *Plan) Handler(path string) (key, step string) { return p.compiled.Handler(path) }

// Upstream are the steps that a step waits for directly. Steps are named by path;
// what is found stands beside the step, in the same try of what is around it.
func (p *Plan) Upstream(step string) []string { return p.compiled.Upstream(step) }

// Size is how many steps a run of the plan has: those of the tools it uses as often as
// they are used, and those of a loop as often as its items are known to be before the run.
// Above 2^31 it is 2^31. Nothing is unfolded to find out.
func (p *Plan) Size() int { return int(p.compiled.Size) }

// Tools are the plan's tool and those it uses inside, each once, the outer first.
func (p *Plan) Tools() []UsedTool { return p.compiled.Tools() }

// LockDemands are what a run of the plan takes at its start: one of the runs its tool may have
// under way, and the locks of the tool and of those it uses inside. Where several give
// one lock, the least slots count.
func (p *Plan) LockDemands() []LockDemand { return needsOf(p.compiled) }

// Secret says whether a parameter's value is masked: environment.secrets or some
// masked-values name it.
func (p *Plan) Secret(param string) bool { return p.compiled.Secret(param) }

// Supported says whether the tool runs on this platform; the error is an
// *UnsupportedError.
func (p *Plan) Supported() error { return p.compiled.Supported() }

// Given is values of a definition as parameters of a call. A number or boolean for a
// parameter of type string is the text in the file, such as 1.10.
func (p *Plan) Given(list []tool.Entry) map[string]any { return p.compiled.Given(list) }

// Args are the bound parameters of a call. They do not change: what was shown of them in a
// Preview is what Engine.RunBound runs.
type Args struct {
	bound *call.Params
	ctx   context.Context // of the World, see World.Until
}

// Value is a parameter's bound value, nil when it is absent.
func (a *Args) Value(name string) any { return a.bound.Value(name) }

// All is every bound value by its name: those of parameters that are not absent, and
// those that a call gave for names that no parameter has, where the tool takes them. The
// map is the caller's, the values in it are not to be changed.
func (a *Args) All() map[string]any { return a.bound.All() }

// Preview works out what a run would do, without starting anything. Commands that secrets
// come from are not started either. The error is an *EnvironmentError, or the cause why the
// context of World.Until ended.
func (a *Args) Preview() (*Preview, error) {
	v, err := preview.Of(a.ctx, a.bound)
	if err == nil {
		v.Needs = needsOf(a.bound.Plan)
	}
	return v, err
}

// Confirmation works out what a person is shown who is asked about the call. Nothing is
// changed and no command started. Secrets are masked. An error says why the call would fail,
// where a tool written in Go can tell.
func (a *Args) Confirmation(ctx context.Context) (*Confirmation, error) {
	return preview.Confirm(ctx, a.bound)
}

// Describe says in one sentence what the call would do. Secrets are masked.
func (a *Args) Describe() string { return preview.Describe(a.ctx, a.bound) }

// Bind takes a caller's parameters through default, coercion, validation and
// transform; what comes out is frozen. Values may be native or text
// ("5" for a number). All problems are reported together, as a *ParamsError. w is
// the world the call lives in; its zero value is this process.
func (p *Plan) Bind(w RunEnv, raw map[string]any) (*Args, error) {
	a, err := w.bind(p.compiled, raw)
	if err != nil {
		return nil, err
	}
	return &Args{a, w.context()}, nil
}

// Preview is Bind and Args.Preview.
func (p *Plan) Preview(w RunEnv, params map[string]any) (*Preview, error) {
	a, err := p.Bind(w, params)
	if err != nil {
		return nil, err
	}
	return a.Preview()
}

// Confirmation is Bind and Args.Confirmation.
func (p *Plan) Confirmation(ctx context.Context, w RunEnv, params map[string]any) (*Confirmation, error) {
	a, err := p.Bind(w, params)
	if err != nil {
		return nil, err
	}
	return a.Confirmation(ctx)
}

// Describe is Bind and Args.Describe.
func (p *Plan) Describe(w RunEnv, params map[string]any) (string, error) {
	a, err := p.Bind(w, params)
	if err != nil {
		return "", err
	}
	return a.Describe(), nil
}

// CommandOf is the command that a Runner of a plan runs, nil for a script and for what is
// written in Go.
func CommandOf(r dag.Runner) *steps.Command { return plan.CommandOf(r) }

// ScriptOf is the script that a Runner of a plan runs, or which function of which file, as a
// dry run shows it; "" for what is none.
func ScriptOf(r dag.Runner) string {
	if js, ok := r.(*script.Runner); ok {
		return js.Told()
	}
	return ""
}

// baseCommandOf is what a Runner of a plan has beside a command or a script, nil for others.
func baseCommandOf(r dag.Runner) *steps.Command {
	if js, ok := r.(*script.Runner); ok {
		return js.Base
	}
	return plan.CommandOf(r)
}
