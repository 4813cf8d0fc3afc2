package engine

import (
	"context"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/graph"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/engine/script"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/buildinfo"
	"github.com/flowrun/flowrun/library"
)

// Plan is a compiled tool: its definition, its graph and everything needed to bind parameters. It is immutable and
// safe for concurrent runs.
type Plan struct {
	// Definition is the definition that was compiled. For an alias it is that of the base tool, with the name,
	// defaults and description of the alias.
	Definition *tool.Definition
	// Warnings are problems that did not keep the tool from compiling, those of nested tools included.
	Warnings tool.Diagnostics

	compiled *plan.Plan
}

// planOf wraps an internal plan for embedders. It returns nil for nil.
func planOf(p *plan.Plan) *Plan {
	if p == nil {
		return nil
	}
	return &Plan{Definition: p.Definition, Warnings: p.Warnings, compiled: p}
}

// Compile finds the tool called name (or the file, if name is a path), resolves everything it refers to and checks
// its graph. Errors: a *library.NotFoundError, or tool.Diagnostics with every problem of the tool and of the tools it
// uses.
func Compile(lib *library.Library, name string) (*Plan, error) {
	p, err := compile.Tool(lib, buildinfo.Release(), name)
	return planOf(p), err
}

// CompileDefinition compiles a definition that the caller has loaded or built; lib finds the tools it uses.
func CompileDefinition(lib *library.Library, def *tool.Definition) (*Plan, error) {
	p, err := compile.Definition(lib, buildinfo.Release(), def)
	return planOf(p), err
}

// Name returns the tool's name.
func (p *Plan) Name() string { return p.compiled.Name() }

// Sources returns the definitions that the plan was compiled from, its own first. Compiling from a
// library.Library.Snapshot of them gives the same plan. Definitions made in Go are not included.
func (p *Plan) Sources() []tool.Source { return slices.Clone(p.compiled.Sources) }

// Current reports whether compiling the tool again would give the same plan: every name in it still leads to the same
// definition in the library. It reads no file that is unchanged.
func (p *Plan) Current(lib *library.Library) bool { return p.compiled.Current(lib) }

// Graph returns the graph that the plan runs.
func (p *Plan) Graph() *dag.Graph { return p.compiled.Graph }

// Steps returns the names of the tool's own steps in plan order.
func (p *Plan) Steps() []string {
	list := make([]string, len(p.compiled.Steps))
	for i, s := range p.compiled.Steps {
		list[i] = s.Def.Name
	}
	return list
}

// Paths returns the paths of all steps whose events a run of the plan can have, also those of tools that steps use and of
// handlers, in plan order, at most limit. Items of loops have the path of their loop.
func Paths(p *Plan, limit int) []string {
	var list []string
	var add func(g *dag.Graph, prefix string)
	add = func(g *dag.Graph, prefix string) {
		for _, n := range g.Nodes() {
			path := prefix + string(n.ID)
			if plan.IsJoin(&n) || len(list) >= limit {
				continue // a join has no events
			}
			list = append(list, path)
			if n.Each != nil {
				n = n.Each.Item
			}
			if n.Graph != nil {
				add(n.Graph, path+"/")
			}
		}
	}
	add(p.Graph(), "")
	return list
}

// Until returns the plan reduced to one step, everything that step waits for, and the handlers of these steps. The
// error is a *StepError.
func (p *Plan) Until(step string) (*Plan, error) {
	cut, err := graph.Until(p.compiled, step)
	return planOf(cut), err
}

// WithTimeout returns a copy of the plan whose runs are cancelled after d. If the definition
// has a shorter timeout, that one applies.
func (p *Plan) WithTimeout(d time.Duration) (*Plan, error) {
	limited, err := graph.WithTimeout(p.compiled, d)
	return planOf(limited), err
}

// Only returns the plan reduced to the step with that path, which may be in a nested tool, and everything it waits
// for, without handlers. The error is a *StepError.
func (p *Plan) Only(path string) (*Plan, error) {
	cut, err := graph.Only(p.compiled, path)
	return planOf(cut), err
}

// Step returns the definition of the step with that path, nil if there is none.
func (p *Plan) Step(path string) *tool.Step { return p.compiled.Step(path) }

// Nested returns the plan of the tool that the step with that path uses, nil for other steps.
func (p *Plan) Nested(step string) *Plan { return planOf(p.compiled.Nested(step)) }

// Interrupt returns what happens to the step with that path if it was running when the program that ran it was killed:
// retry, ask or fail.
func (p *Plan) Interrupt(path string) string {
	if _, s := p.compiled.Find(dag.ID(path)); s != nil && s.Interrupt != "" {
		return string(s.Interrupt)
	}
	return string(plan.AskWhenInterrupted)
}

// Questions returns the open questions in the state of a run of the plan, which another program walks.
func (p *Plan) Questions(run string, s *dag.State) []history.Question {
	return waiting.Questions(run, p.Name(), s)
}

// WaitsFor says in one line what a run of the plan waits for that another program walks, and which step failed before;
// "" if nobody is asked anything.
func (p *Plan) WaitsFor(run string, s *dag.State) string {
	return runresult.WaitsFor(runresult.New(run, p.compiled, nil, s), p.Questions(run, s))
}

// Place returns where the step with that path is written, the zero Pos if it is not in a file.
func (p *Plan) Place(path string) tool.Pos { return p.compiled.Place(path) }

// Handler returns when the step with that path runs, if it is in a list of handlers: the key of the list (on-success,
// on-failure or finally) and the step it belongs to, "" for the tool. For other steps both are "".
func (p *Plan) Handler(path string) (key, step string) { return p.compiled.Handler(path) }

// Upstream returns the steps that a step waits for directly, without those that another of them waits for. Steps are
// named by path; each result is in the same group, item and attempt as the step. The slice must not be changed.
func (p *Plan) Upstream(step string) []string { return p.compiled.Upstream(step) }

// Size returns how many steps a run of the plan has. The steps of a nested tool count each time it is used, those of
// a loop once for each item known before the run. Sizes above 2^31 are reported as 2^31. Nothing is unfolded to
// compute it.
func (p *Plan) Size() int { return int(p.compiled.Size) }

// Tools returns the plan's tool and the tools it uses inside, each once, the outer ones first.
func (p *Plan) Tools() []plan.UsedTool { return p.compiled.Tools() }

// LockDemands returns what a run of the plan takes at its start: one of the concurrent runs that its tool allows, and
// the locks of the tool and of those it uses inside. If several of them name the same lock, the lowest number of
// slots applies.
func (p *Plan) LockDemands() []history.LockDemand { return lockDemandsOf(p.compiled) }

// KeepsState reports whether the tool, or one that it uses, keeps values between runs. A run then needs a Store.
func (p *Plan) KeepsState() bool { return p.compiled.KeepsState }

// StateID identifies the tool, as a Store of its state does.
func (p *Plan) StateID() history.StateID { return call.StateID(p.compiled.Definition) }

// StateDefaults returns the values that the tool declares, with their defaults.
func (p *Plan) StateDefaults() []history.StateValue { return call.StateDefaults(p.compiled.Definition) }

// KeepsArtifacts reports whether steps of the plan, or of the tools it uses, have artifacts.
func (p *Plan) KeepsArtifacts() bool { return p.compiled.KeepsArtifacts() }

// Secret reports whether a parameter's value is masked: environment.secrets or some masked-values name it.
func (p *Plan) Secret(param string) bool { return p.compiled.Secret(param) }

// Supported returns nil if the tool runs on this platform, else an *UnsupportedError.
func (p *Plan) Supported() error { return p.compiled.Supported() }

// Given converts values of a definition to parameters of a call. A number or boolean for a parameter of type string
// keeps the text it has in the file, such as 1.10.
func (p *Plan) Given(list []tool.Entry) map[string]any { return p.compiled.Given(list) }

// Args are the bound parameters of a call. They do not change: Engine.RunBound runs exactly what a Preview of them
// showed.
type Args struct {
	bound *call.Params
	ctx   context.Context // of the RunEnv, see RunEnv.Until
}

// Value returns a parameter's bound value, nil if it is absent.
func (a *Args) Value(name string) any { return a.bound.Value(name) }

// All returns every bound value by its name: those of parameters that are not absent, and those of undeclared names,
// if the tool accepts them. The map belongs to the caller; do not change the values in it.
func (a *Args) All() map[string]any { return a.bound.All() }

// Preview computes what a run would do, without starting anything, not even the commands that provide secrets. The
// error is an *EnvironmentError, or the cause why the context of RunEnv.Until ended.
func (a *Args) Preview() (*preview.Preview, error) {
	v, err := preview.Of(a.ctx, a.bound)
	return a.withLocks(v, err)
}

// PreviewFor is Preview for a run of that origin by an Engine with that Config.Enforce. It also says what this machine
// enforces for the run.
func (a *Args) PreviewFor(e Enforcement, origin string) (*preview.Preview, error) {
	v, err := preview.OfRun(a.ctx, a.bound, e.of(a.bound.Plan, origin))
	return a.withLocks(v, err)
}

// Preview calls Args.PreviewFor with the settings of the engine.
func (e *Engine) Preview(a *Args, origin string) (*preview.Preview, error) {
	return a.PreviewFor(e.config.Enforce, origin)
}

func (a *Args) withLocks(v *preview.Preview, err error) (*preview.Preview, error) {
	if err == nil {
		v.Needs = lockDemandsOf(a.bound.Plan)
	}
	return v, err
}

// CallMocks calls a tool in JavaScript with the mocks of its bridges, and so shows what a call would return. It has no
// effect outside of the sandbox. toolDir is the Config.ToolDir with the variables of the tool, "" if there is none.
// CallMocks returns nil for tools that have no bridges, and for tools under Node.js.
func (a *Args) CallMocks(toolDir string) (*script.MockedCall, error) {
	return script.CallMocks(a.ctx, a.bound, toolDir)
}

// Confirmation computes what a person sees who is asked to approve the call. It changes nothing and starts no
// command. Secrets are masked. The error says why the call would fail, if a tool written in Go can know that.
func (a *Args) Confirmation(ctx context.Context) (*gostep.Confirmation, error) {
	return preview.Confirm(ctx, a.bound)
}

// Describe returns one sentence that says what the call would do. Secrets are masked.
func (a *Args) Describe() string { return preview.Describe(a.ctx, a.bound) }

// Bind takes a caller's parameters through default, coercion, validation and transform, and returns the final values.
// Values may have their Go type or be text ("5" for a number). All problems are reported together, as a *ParamsError.
// w is the environment of the call; its zero value is that of this process.
func (p *Plan) Bind(w RunEnv, raw map[string]any) (*Args, error) {
	a, err := w.bind(p.compiled, raw)
	if err != nil {
		return nil, err
	}
	return &Args{a, w.context()}, nil
}

// Preview calls Bind and Args.Preview.
func (p *Plan) Preview(w RunEnv, params map[string]any) (*preview.Preview, error) {
	a, err := p.Bind(w, params)
	if err != nil {
		return nil, err
	}
	return a.Preview()
}

// Confirmation calls Bind and Args.Confirmation.
func (p *Plan) Confirmation(ctx context.Context, w RunEnv, params map[string]any) (*gostep.Confirmation, error) {
	a, err := p.Bind(w, params)
	if err != nil {
		return nil, err
	}
	return a.Confirmation(ctx)
}

// Describe calls Bind and Args.Describe.
func (p *Plan) Describe(w RunEnv, params map[string]any) (string, error) {
	a, err := p.Bind(w, params)
	if err != nil {
		return "", err
	}
	return a.Describe(), nil
}

// CommandOf returns the command that a Runner of a plan runs, nil for a script and for a step written in Go.
func CommandOf(r dag.Runner) *steps.Command { return plan.CommandOf(r) }

// ScriptOf returns the script that a Runner of a plan runs, or which function of which file, as a dry run shows it;
// "" for other runners.
func ScriptOf(r dag.Runner) string {
	if js, ok := plan.Innermost(r).(*script.Runner); ok {
		return js.Text()
	}
	return ""
}
