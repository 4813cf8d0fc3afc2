package flowrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	lang "github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/tool"
)

// Graph builds a tool whose steps are Go functions that pass Go values to each other:
//
//	g := flowrun.NewGraph("order")
//	order := flowrun.Input[Order](g)                                            // the parameters of a run
//	paid := flowrun.AddStep(g, "charge", order, charge, flowrun.Retry(3, time.Second)) // func(context.Context, Order) (Receipt, error)
//	flowrun.AddStep(g, "ship", paid, ship)                                      // func(context.Context, Receipt) (Parcel, error)
//	plan, err := g.Compile()
//
// A step waits for the steps whose values it reads, and for no other; the others run at the same time. The Go compiler
// checks that the types fit, Compile the rest. The result is a Plan like any other: its runs are recorded, and a run whose
// program was killed is resumed with the values that were recorded. A value is recorded as JSON (package encoding/json):
// unexported fields do not reach the next step. A Graph is not safe for concurrent use; its Plan is.
type Graph struct {
	def      *tool.Definition
	problems []error
}

// NewGraph returns a Graph without steps. name is that of its tool: letters, digits, and _ - . between them.
func NewGraph(name string) *Graph { return &Graph{def: &tool.Definition{Name: name}} }

// Value is a value of a Graph: what a step returns, or what a run is called with. It exists only while a run executes;
// Of reads it afterwards.
type Value[T any] struct {
	graph *Graph
	steps []string // that it is made of
	read  func(params, results map[string]any) (T, error)
}

// Input returns the parameters of a run, which are the fields of the struct T, as in TypedTool. ParamsOf converts a T to what
// Engine.Run takes. A field that cannot be a parameter is an error of Compile. struct{} is the Input of a step that needs
// none.
func Input[T any](g *Graph) Value[T] {
	params, err := gostep.ParametersOf[T]()
	g.problem(err)
	for _, p := range params {
		if g.def.Parameter(p.Name) == nil {
			g.def.Parameters = append(g.def.Parameters, p)
		}
	}
	return Value[T]{g, nil, func(params, _ map[string]any) (T, error) { return into[T]("the parameters", params) }}
}

// AddStep adds a step that calls f with the value of in, and returns the value of what f returns. name is unique in the
// Graph. An error of f fails the step, with the exit code of an *ExitError in it, else 1; a panic fails it too. f must return
// soon after its context is done.
//
// The steps behind a step that failed are skipped. If a step was skipped because of When, those behind it run, and read
// the zero value.
func AddStep[In, Out any](g *Graph, name string, in Value[In], f func(context.Context, In) (Out, error), options ...StepOption) Value[Out] {
	work := func(f func(context.Context, In) (Out, error)) *GoTool {
		return &GoTool{Name: name, Run: func(ctx context.Context, s *StepInput) (any, error) {
			v, err := in.read(s.Params, s.Results)
			if err != nil {
				return nil, err
			}
			out, err := f(ctx, v)
			if err != nil {
				return nil, err
			}
			return asJSON(out)
		}}
	}
	code := &lang.GoCode{Func: work(f)}
	s := &stepOfGraph{Step: &tool.Step{Name: name, Body: code, HasWaitFor: true}, graph: g}
	s.read(in.graph, in.steps)
	for _, option := range options {
		option(s)
	}
	if s.fallback != nil {
		other, fits := s.fallback.(func(context.Context, In) (Out, error))
		if !fits {
			s.problem("its fallback is a %T, not a %T", s.fallback, f)
		}
		code.Fallback = work(other)
	}
	if s.when != nil {
		code.When = s.when
	}
	code.Reads = s.reads
	if _, err := json.Marshal(reflect.New(reflect.TypeFor[Out]()).Elem().Interface()); err != nil {
		s.problem("its result cannot be recorded: %w", err)
	}
	switch {
	case !lang.ValidStepName(name):
		s.problem("the name is not valid")
	case slices.ContainsFunc(g.def.Steps, func(other *tool.Step) bool { return other.Name == name }):
		s.problem("there are two steps of that name")
	}
	g.def.Steps = append(g.def.Steps, s.Step)
	return Value[Out]{g, []string{name}, func(_, results map[string]any) (Out, error) {
		return into[Out]("the result of step "+name, results[name])
	}}
}

// Combine returns the value that f makes of two others, for a step that reads both. It is not a step: f is called whenever
// the value is read, so it must do nothing but convert.
func Combine[A, B, C any](a Value[A], b Value[B], f func(A, B) C) Value[C] {
	if a.graph != b.graph {
		a.graph.problem(errors.New("Combine has values of two graphs"))
	}
	return Value[C]{a.graph, append(slices.Clone(a.steps), b.steps...), func(params, results map[string]any) (C, error) {
		x, err := a.read(params, results)
		if err != nil {
			return *new(C), err
		}
		y, err := b.read(params, results)
		if err != nil {
			return *new(C), err
		}
		return f(x, y), nil
	}}
}

// Of returns the value as a run has left it. It is an error if a step that it is made of did not succeed, or was skipped.
func (v Value[T]) Of(res *Result) (T, error) {
	results := map[string]any{}
	for _, name := range v.steps {
		result, err := resultOf(res, name)
		if err != nil {
			return *new(T), err
		}
		results[name] = result
	}
	return v.read(res.Params, results)
}

// resultOf returns what a step of a Graph returned in a run.
func resultOf(res *Result, name string) (any, error) {
	s := res.Step(name)
	switch {
	case s == nil:
		return nil, fmt.Errorf("run %s has no step %s", res.ID, name)
	case s.Status != dag.Succeeded:
		return nil, fmt.Errorf("step %s has no result: it is %s", name, s.Status)
	}
	text := s.Output
	if s.StdoutFile != "" {
		whole, err := os.ReadFile(s.StdoutFile)
		if err != nil {
			return nil, fmt.Errorf("cannot read the result of step %s: %w", name, err)
		}
		text = string(whole)
	}
	v, err := gostep.ReadResult(text)
	if err != nil {
		return nil, fmt.Errorf("cannot read the result of step %s: %w", name, err)
	}
	return v, nil
}

// into converts what is recorded of a value.
func into[T any](what string, v any) (T, error) {
	to, err := gostep.Into[T](v)
	if err != nil {
		return to, fmt.Errorf("cannot read %s as a %T: %w", what, to, err)
	}
	return to, nil
}

// asJSON returns the result of a step in the form that is recorded, also for a text.
func asJSON(v any) (any, error) {
	b, err := json.Marshal(v)
	return json.RawMessage(b), err
}

// StepOption changes a step of a Graph.
type StepOption func(*stepOfGraph)

// stepOfGraph is a step that AddStep makes.
type stepOfGraph struct {
	*tool.Step
	graph    *Graph
	reads    []string
	fallback any
	when     any
}

// read records that the step reads values of other steps.
func (s *stepOfGraph) read(g *Graph, steps []string) {
	if g != s.graph {
		s.problem("it uses a value of another graph")
		return
	}
	for _, name := range steps {
		if !slices.Contains(s.reads, name) {
			s.reads = append(s.reads, name)
		}
	}
}

func (s *stepOfGraph) problem(format string, args ...any) {
	s.graph.problem(fmt.Errorf("step %q: %w", s.Name, fmt.Errorf(format, args...)))
}

// Retry runs a step again when it has failed, up to so many times. The time before a retry doubles with each, from delay
// on; 0 means a second.
func Retry(times int, delay time.Duration) StepOption {
	return func(s *stepOfGraph) { s.ErrorHandling.Retry = &lang.Retry{Attempts: times, Delay: delay} }
}

// Fallback runs f when all attempts of a step have failed. What f returns is then the value of the step. f has the type of
// the step's function.
func Fallback[In, Out any](f func(context.Context, In) (Out, error)) StepOption {
	return func(s *stepOfGraph) { s.fallback = f }
}

// When runs a step only if yes returns true for a value. yes is called when the steps that the value is made of have
// ended, and must do nothing but decide. The step is skipped without a call if one of them has failed.
func When[T any](v Value[T], yes func(T) bool) StepOption {
	return func(s *stepOfGraph) {
		s.read(v.graph, v.steps)
		if s.when != nil {
			s.problem("it has more than one When")
		}
		s.when = gostep.Condition(func(params, results map[string]any) (bool, error) {
			x, err := v.read(params, results)
			return err == nil && yes(x), err
		})
	}
}

// After lets a step wait for a value that it does not use.
func After[T any](v Value[T]) StepOption { return func(s *stepOfGraph) { s.read(v.graph, v.steps) } }

// Timeout limits each attempt of a step.
func Timeout(d time.Duration) StepOption { return func(s *stepOfGraph) { s.Step.Timeout = d } }

// Idempotent says that a step may run again if the program was killed while it ran. A run with another such step is
// resumed only if somebody decides to, see ResumeOptions.
func Idempotent() StepOption {
	return func(s *stepOfGraph) { yes := true; s.Step.Idempotent = &yes }
}

func (g *Graph) problem(err error) {
	if err != nil && g != nil {
		g.problems = append(g.problems, err)
	}
}

// Definition returns the tool of the graph, to add to a library.Library. Errors: those of Compile, except what only a
// library can tell.
func (g *Graph) Definition() (*tool.Definition, error) {
	for _, p := range g.def.Parameters {
		if slices.ContainsFunc(g.def.Steps, func(s *tool.Step) bool { return s.Name == p.Name }) {
			g.problem(fmt.Errorf("%q is the name of a step and of a parameter", p.Name))
		}
	}
	if err := errors.Join(g.problems...); err != nil {
		return nil, fmt.Errorf("cannot build the graph %s: %w", g.def.Name, err)
	}
	return g.def, nil
}

// Compile checks the graph. The error names everything that is wrong with it. Do not change the Graph afterwards.
func (g *Graph) Compile() (*Plan, error) {
	def, err := g.Definition()
	if err != nil {
		return nil, err
	}
	return CompileDefinition(library.New(library.Config{}), def)
}
