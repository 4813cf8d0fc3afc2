package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// StepPre is the step of a Markdown tool's pre-processing, whose value input is.
const StepPre = "preprocess"

// Plan is a compiled tool: its definition, its graph and everything needed to
// bind parameters. It is immutable and may be run any number of times at once.
type Plan struct {
	// Definition is what was compiled; for an alias the base tool's with the
	// alias's name, defaults and description.
	Definition *tool.Definition
	// Warnings are problems that did not keep the tool from compiling, in nested
	// tools too.
	Warnings tool.Diagnostics

	Params  []*Param
	Steps   []*Step // in plan order
	ByName  map[string]*Step
	Sources []tool.Source // of the tool and of what it uses, in the order they were found
	CutTo   string        // the step a cut plan ends with, "" for the whole tool
	Alone   bool          // of what Only cut down: nothing but that step is to run
	Graph   *dag.Graph

	Environ     []steps.EnvVar  // tool-wide
	EnvFiles    []steps.EnvFile // tool-wide
	Dir         *expr.Template  // working directory; nil = the caller's
	Temp        *expr.Template  // temp directory; nil = none of its own
	Input       *expr.Template  // what steps without an input of their own read
	Answer      *expr.Template  // default response of interactive steps without one of their own
	Output      *expr.Template  // the run's output; nil = that of a step, see dag.Graph
	Secrets     []tool.Text     // that are only named, the steps' too
	Sourced     []SecretSource  // tool-wide
	Gates       []dag.ID        // joins that handlers see the run's outcome at
	Loops       map[string]bool // steps that loop, those in groups too
	Size        int64           // how many steps a run has, at most MaxSize
	Cleans      bool            // it has a cleanup, or a tool that it uses has
	Scripts     map[string]bool // steps of JavaScript, those in groups too
	Group       bool            // the steps of a group: a graph within its tool's
	Cleanup     *Cleanup        // nil = nothing to clean up
	Permissions []Permission    // required-permissions
	// Callable is the plan of another tool, for scripts that call it; nil where none can be.
	Callable func(name string) (*Plan, error)
}

// Cleanup is what is done after everything else: final commands, and the temporary directory
// goes.
type Cleanup struct{ Commands []*steps.Command }

// Step is one step of a Plan.
type Step struct {
	Def      *tool.Step
	After    []dag.ID // joins included
	Join     dag.Node // the join in front of it, where it has one of its own
	When     *expr.Condition
	Policy   dag.Policy
	Command  *steps.Command // nil for use-tool, JavaScript and Go steps
	Script   *Script        // nil for all but JavaScript steps
	Runner   dag.Runner     // command, script, or the Go function
	Nested   *Plan          // use-tool, or a group's
	UsesTool bool           // Nested is another tool
	NoSlot   bool           // it waits: it takes no slot
	NoOutput bool           // its output is never the run's
	Ours     string         // what it is that flowrun does itself, in words; "" for a command
	With     []WithValue
	WithAll  *ValueTemplate // an object whose fields are given as well; nil for none
	Loop     *Loop          // for-each or matrix; nil runs it once
	Handler  *Handler       // nil: an ordinary step
	Gate     dag.Node       // in front of the first handler
	Rule     *tool.Retry    // the retry in force, the step's or the tool's

	Sourced   []SecretSource           // its own
	Interrupt Interrupt                // what becomes of it when the engine dies meanwhile
	Mentioned map[string]steps.Streams // steps its texts mention, and what of them they read
	Uses      map[string]bool          // parameters its texts mention
	Retry     *expr.Condition          // retry.when
	Cache     *CacheRule               // nil: it always runs
}

// BaseCommand is what a step has beside its command or its script: environment, output and
// what is masked. nil for steps without either.
func (s *Step) BaseCommand() *steps.Command {
	if s.Script != nil {
		return s.Script.Base
	}
	return s.Command
}

// WithValue is one entry of use-tool's with.
type WithValue struct {
	Param string
	Value ValueTemplate
}

// WithKey is what the values for a tool that a step uses stand under.
func (p *Plan) WithKey() string {
	if p.Definition.Format == tool.Markdown {
		return "parameters"
	}
	return "with"
}

// Name is the tool's name.
func (p *Plan) Name() string { return p.Definition.Name }

// StepError says that a plan has no step of that name.
type StepError struct {
	Tool, Step string
	Near       []string
}

func (e *StepError) Error() string {
	msg := fmt.Sprintf("tool %s has no step %q", e.Tool, e.Step)
	if len(e.Near) > 0 {
		msg += fmt.Sprintf("; did you mean %q?", e.Near[0])
	}
	return msg
}

// NoStep is the error that there is no step of that path, a *StepError.
func (p *Plan) NoStep(step string) error {
	return &StepError{Tool: p.Name(), Step: step, Near: tool.Near(string(dag.ID(step).WithoutKeys()), p.paths(""))}
}

// paths are those of all steps, the ones inside others included.
func (p *Plan) paths(prefix string) []string {
	var list []string
	for _, s := range p.Steps {
		list = append(list, prefix+s.Def.Name)
		if s.Nested != nil {
			list = append(list, s.Nested.paths(prefix+s.Def.Name+"/")...)
		}
	}
	return list
}

// CleanupID is the node that runs resources.cleanup after everything else. The
// sign keeps it apart from every step's name.
const CleanupID dag.ID = "@cleanup"

// Silent says whether the step's output is never the run's.
func (s *Step) Silent() bool {
	return s.Handler != nil || s.NoOutput
}

// Secret says whether a parameter's value is masked: environment.secrets or some
// masked-values name it.
func (p *Plan) Secret(param string) bool {
	if slices.ContainsFunc(p.Secrets, func(s tool.Text) bool { return s.S == param }) {
		return true
	}
	secret := false
	p.Each(func(s *Step) {
		base := s.BaseCommand()
		if base == nil {
			return
		}
		for _, t := range base.Masked {
			secret = secret || slices.ContainsFunc(t.Refs(), func(r expr.Ref) bool { return r.Class == expr.Parameter && r.Root == param })
		}
	})
	return secret
}

// CommandOf is the command that a Runner runs, nil for a script and for what is written in
// Go. A Runner around a command says which it is.
func CommandOf(r dag.Runner) *steps.Command {
	if around, ok := r.(interface{ Around() *steps.Command }); ok {
		return around.Around()
	}
	cmd, _ := r.(*steps.Command)
	return cmd
}

// Called is the plan of a tool that a script calls.
func (p *Plan) Called(name string) (*Plan, error) {
	if p.Callable == nil {
		return nil, errors.New("this tool was not found in a library")
	}
	return p.Callable(name)
}

// RandomID is the variable of a text that only this run has.
const RandomID = "RANDOM_ID"
