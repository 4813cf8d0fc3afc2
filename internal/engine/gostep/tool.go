package gostep

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// MaxDescribed limits a sentence that describes a call, in characters.
const MaxDescribed = 240

// StepFunc is a step written in Go. A text result is the step's output, and so is the text of a *Content. Any other
// value becomes the output as JSON, which is also what {step.json} refers to. An error fails the step, with the exit
// code of an *ExitError in it, else 1. A StepFunc must return soon after ctx is done.
type StepFunc func(ctx context.Context, in *StepInput) (any, error)

// StepInput is the input of a step written in Go. It is valid only during the call.
type StepInput struct {
	Params  map[string]any // bound values by name; absent parameters are missing
	Run     string         // the run's id
	Path    string         // the step's path in the run
	Attempt int            // counts from 1
	Dir     string         // where a command step would run
	Item    any            // of the innermost loop around the step in its tool; nil if there is none

	// Results are the results of the steps that a step of a Graph reads, by their names. That of a step which was skipped is
	// missing. It is nil for other steps.
	Results map[string]any

	Workspace string // {WORKSPACE} of the run
	// Readable lists the files and folders that the permissions of the tool around the step let it read. It is nil if
	// they are not enforced.
	Readable []string

	reports *reports // without a session, nobody is shown how far the work is
}

// ExitError is an error that sets the step's exit code. Err says why, and may be nil.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// GoTool describes a tool written in Go.
type GoTool struct {
	Name        string
	DisplayName string // name shown to people; "" means Name
	Description string
	Tags        []string
	Parameters  []*tool.Parameter
	Schema      *dataschema.Schema // describes all parameters, in place of Parameters
	// OutputSchema describes the result of Run, which is then one JSON object.
	OutputSchema *dataschema.Schema
	// Outputs are the declared outputs: members of the object that Run returns.
	Outputs []*tool.DeclaredOutput
	Timeout time.Duration
	Run     StepFunc
	// Reads means that Run only reads files, and only those below StepInput.Readable if that is set. Such a tool can be
	// used by a tool whose permissions are enforced.
	Reads bool
	// Describe returns one sentence that says what a call will do. The parameters are bound. If it is nil, the tool's
	// description and the parameters are shown instead.
	Describe func(params map[string]any) string
	// Confirm computes what a person sees who is asked to approve a call. It must not change anything. An error means
	// that the call would fail; then nobody is asked. If it is nil, the person sees the sentence of Describe.
	Confirm func(ctx context.Context, in *StepInput) (*Confirmation, error)
}

// Definition returns the tool as a definition like that of any other tool: add it to a library.Library and run it by
// name, or use it from YAML with use-tool.
func (t GoTool) Definition() *tool.Definition {
	d := &tool.Definition{Name: t.Name, DisplayName: t.DisplayName, Description: t.Description, Tags: t.Tags, Parameters: t.Parameters,
		Schema: t.Schema, OutputSchema: t.OutputSchema, Outputs: t.Outputs, Timeout: t.Timeout, Single: true,
		Steps: []*tool.Step{{Name: t.Name, Body: &tool.GoCode{Func: &t}, Outputs: t.Outputs}}}
	if t.Schema != nil {
		d.Parameters = tool.ParametersOf(t.Schema)
	}
	return d
}

// Work describes the tool's step, see plan.Plan.Unconfined.
func (t GoTool) Work() string {
	if t.Reads {
		return plan.WorkReading
	}
	return plan.WorkInGo
}

// GoStep returns a step written in Go, for a tool.Definition built in Go.
func GoStep(name string, f StepFunc) *tool.Step {
	return &tool.Step{Name: name, Body: &tool.GoCode{Func: &GoTool{Name: name, Run: f}}}
}

// Runner runs a StepFunc.
type Runner struct {
	Tool    *GoTool
	Outputs []stepfile.Declaration
	Reads   []plan.WithValue // references to the results that it reads, by the names of the steps
}

// Run implements dag.Runner.
func (g Runner) Run(ctx context.Context, c *dag.Call) (res dag.Result, err error) {
	a := call.FrameOf(c.Args())
	if why := a.Plan.Unconfined(a.Confine, g.Tool.Work()); why != "" {
		return dag.Result{Status: dag.Failed, ExitCode: 126, Reason: steps.ReasonStartFailed, Message: why, Permanent: true}, nil
	}
	defer func() {
		if v := recover(); v != nil { // recovered here, because package dag cannot mask secrets in the message
			res, err = goFailure(a, fmt.Errorf("panic: %v", v)), nil
			res.Reason = dag.ReasonPanic
		}
	}()
	in := InputOf(a)
	in.Run, in.Path, in.Attempt = c.Run, string(c.Path), c.Attempt
	if in.Results, err = results(g.Reads, c.View); err != nil {
		return goFailure(a, err), nil
	}
	in.reports.session, in.reports.call = a.Session(), c
	defer in.reports.end()
	v, err := g.Tool.Run(ctx, in)
	if err != nil {
		res = goFailure(a, err)
		if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
			res.Message = "" // the engine already reports that the step was stopped, and why
		}
		return res, nil
	}
	if m, ok := v.(*Command); ok && m != nil {
		return m.run(ctx, c, g.Outputs)
	}
	res.Status = dag.Succeeded
	if content, ok := v.(*Content); ok {
		res.Content = content.masked(a.Session().Mask())
		v = content.Text()
	}
	text, isText := v.(string)
	if !isText && v != nil {
		b, err := json.Marshal(v)
		if err != nil {
			return goFailure(a, fmt.Errorf("cannot write the result as JSON: %w", err)), nil
		}
		text = string(b)
		if err := value.DecodeJSON(text, &res.Value); err != nil {
			return goFailure(a, err), nil
		}
		res.Structured = true
	}
	if err := a.Session().ReturnedOutputs(&res, res.Value, g.Outputs); err != nil {
		return res, err
	}
	res.Stdout, err = a.Session().Text(c.Path, c.Attempt, text)
	return res, err
}

// InputOf returns the input of a step written in Go for a call.
func InputOf(a *call.Frame) *StepInput {
	both := &struct { // in one piece of memory
		StepInput
		reports reports
	}{StepInput: StepInput{Params: map[string]any{}, Dir: cmp.Or(a.Dir(), a.RunEnv.Workspace), Workspace: a.RunEnv.Workspace, Readable: a.Readable()}}
	in := &both.StepInput
	in.reports = &both.reports
	for name, v := range a.All() {
		in.Params[name] = value.Clone(v)
	}
	if a.Local != nil {
		in.Item = value.Clone(a.Local.Item.V)
	}
	return in
}

func goFailure(a *call.Frame, err error) dag.Result {
	r := dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonExit, Message: a.Session().Mask().String(err.Error())}
	var exit *ExitError
	if errors.As(err, &exit) && exit.Code != 0 {
		r.ExitCode = exit.Code
	}
	return r
}
