package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// StepPre is the name of the pre-processing step of a Markdown tool. Its value is input.
const StepPre = "preprocess"

// Plan is a compiled tool: its definition, its graph and everything needed to bind parameters. It is immutable and
// safe for concurrent runs.
type Plan struct {
	// Definition is the definition that was compiled. For an alias it is that of the base tool, with the name,
	// defaults and description of the alias.
	Definition *tool.Definition
	// Warnings are problems that did not keep the tool from compiling, those of nested tools included.
	Warnings tool.Diagnostics

	Params          []*Param
	Steps           []*Step // in plan order
	ByName          map[string]*Step
	Sources         []tool.Source             // of the tool and of those it uses, in the order they were found
	Found           map[Name]*tool.Definition // what the names led to that were looked up to compile the plan
	CutTo           string                    // the last step of a plan reduced by Until or Only, "" for the whole tool
	WithoutUpstream bool                      // reduced by Only: only that step may run
	Timeout         time.Duration             // limits the whole run, if it differs from the timeout of the definition; 0 if it does not
	Graph           *dag.Graph                // set by SetGraph
	upstream        *upstream

	Environ         []steps.EnvVar  // tool-wide
	EnvFiles        []steps.EnvFile // tool-wide
	Dir             *expr.Template  // working directory; nil means the caller's
	Temp            *expr.Template  // temp directory; nil means none of its own
	Input           *expr.Template  // stdin of steps without an input of their own
	DefaultResponse *expr.Template  // default response of interactive steps without one of their own
	Output          *expr.Template  // the run's output; nil means that of a step, see dag.Graph
	Outputs         []Output        // the declared outputs of a tool with steps, or of a group
	Secrets         []tool.Text     // secrets without a source, those of steps included
	SecretSources   []SecretSource  // tool-wide
	Gates           []dag.ID        // joins whose results handlers see as the run's outcome
	Loops           map[string]bool // steps with a loop, those in groups included
	Size            int64           // how many steps a run has, at most MaxSize
	HasCleanup      bool            // this tool or one it uses has a cleanup
	KeepsState      bool            // this tool or one it uses keeps values between runs
	Scripts         map[string]bool // steps whose results a script makes, perhaps of a caller's value; those in groups included
	Group           bool            // the plan holds the steps of a group: a graph within its tool's
	Cleanup         *Cleanup        // nil means nothing to clean up
	RetryRun        *RetryRun       // nil means that no run is retried automatically
	Permissions     []Permission    // required-permissions
	// Claims are those of all steps, nested ones included. Only the plan of a run has them.
	Claims []*Claim
	// Callable returns the plan of another tool, for scripts that call tools; nil if they cannot.
	Callable func(name string) (*Plan, error)
}

// Cleanup is what runs after everything else: the final commands. Then the temporary directory is removed, if the call has
// succeeded or the tool says so.
type Cleanup struct{ Commands []*steps.Command }

// Step is one step of a Plan.
type Step struct {
	Def       *tool.Step
	After     []dag.ID  // joins included
	Join      *dag.Node // the join in front of the step; nil if it has none of its own
	When      *expr.Condition
	Policy    dag.Policy
	Command   *steps.Command // nil for use-tool, JavaScript and Go steps
	Script    *Script        // nil for all but JavaScript steps
	Runner    dag.Runner     // command, script, or the Go function
	Nested    *Plan          // use-tool, or a group's
	UsesTool  bool           // Nested is another tool, not a group
	NoSlot    bool           // it only waits, so it takes no slot
	NoOutput  bool           // its output is never the run's
	OwnWork   string         // description of a step that flowrun executes itself; "" for a command
	With      []WithValue
	WithAll   *ValueTemplate // an object whose fields are passed as well; nil for none
	Loop      *Loop          // for-each or matrix; nil means it runs once
	Handler   *Handler       // nil for an ordinary step
	Gate      *dag.Node      // in front of the first handler; nil for all other steps
	RetryRule *tool.Retry    // the retry that applies, the step's or the tool's

	SecretSources []SecretSource           // its own
	Interrupt     Interrupt                // what happens if flowrun is killed while it runs
	Mentioned     map[string]steps.Streams // steps that its texts mention, and which of their streams they read
	Uses          map[string]bool          // parameters that its texts mention
	RetryWhen     *expr.Condition          // retry.when
	Decide        Decide                   // a condition that is a Go function; nil for none
	Claim         *Claim                   // nil means that its attempts hold nothing that runs share
	RepeatUntil   *expr.Condition          // repeat.until or repeat.while; nil if the step runs once
	Cache         *CacheRule               // nil means it always runs
	Artifacts     []Artifact               // files that are kept with the run
}

// Decide decides whether a step runs, if nothing it waits for has failed.
type Decide func(v dag.View) (bool, error)

// BaseCommand returns the settings of a step around its command or script: environment, output, and masked values. It
// is nil for steps without either.
func (s *Step) BaseCommand() *steps.Command {
	if s.Script != nil {
		return s.Script.Base
	}
	return s.Command
}

// WithValue is one entry in the with of a use-tool step.
type WithValue struct {
	Param string
	Value ValueTemplate
}

// For returns the value as the used tool takes it. nil is an absent value.
func (w WithValue) For(used *Plan, sc expr.Scope) (any, error) {
	if prm := used.Param(w.Param); prm != nil && prm.Def.Type == "string" && w.Value.Spelling != "" {
		return w.Value.Spelling, nil
	}
	return w.Value.Value(sc)
}

// WithKey returns the key under which a step writes the values for the tool that it uses.
func (p *Plan) WithKey() string {
	if p.Definition.Format == tool.Markdown {
		return "parameters"
	}
	return "with"
}

// Name returns the tool's name.
func (p *Plan) Name() string { return p.Definition.Name }

// StepError reports that a plan has no step of that name.
type StepError struct {
	Tool, Step string
	Near       []string // similar paths
	Steps      []string // the paths of all steps
}

func (e *StepError) Error() string {
	msg := fmt.Sprintf("tool %s has no step %q", e.Tool, e.Step)
	if len(e.Near) > 0 {
		return msg + fmt.Sprintf("; did you mean %q?", e.Near[0])
	}
	if n := len(e.Steps); n > 0 && n <= 10 {
		msg += "; its steps: " + strings.Join(e.Steps, ", ")
	}
	return msg
}

// NoStep returns a *StepError that there is no step of that path.
func (p *Plan) NoStep(step string) error {
	paths := p.paths("")
	return &StepError{Tool: p.Name(), Step: step, Near: diagnostic.Near(string(dag.ID(step).WithoutKeys()), paths), Steps: paths}
}

// paths returns the paths of all steps, nested ones included.
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

// CleanupID is the node that runs resources.cleanup after everything else. Its @ keeps it distinct from the names of
// steps.
const CleanupID dag.ID = "@cleanup"

// Silent reports whether the step's output is never the run's.
func (s *Step) Silent() bool {
	return s.Handler != nil || s.NoOutput
}

// Secret reports whether a parameter's value is masked: environment.secrets or some masked-values name it.
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

// Innermost returns the Runner that does the work of a step, without those around it.
func Innermost(r dag.Runner) dag.Runner {
	for {
		outer, ok := r.(interface{ Inside() dag.Runner })
		if !ok {
			return r
		}
		r = outer.Inside()
	}
}

// CommandOf returns the command that a Runner runs, nil for a script and for a step written in Go. For a Runner that
// wraps a command, it returns that command.
func CommandOf(r dag.Runner) *steps.Command {
	r = Innermost(r)
	if around, ok := r.(interface{ Around() *steps.Command }); ok {
		return around.Around()
	}
	cmd, _ := r.(*steps.Command)
	return cmd
}

// Called returns the plan of a tool that a script calls.
func (p *Plan) Called(name string) (*Plan, error) {
	if p.Callable == nil {
		return nil, errors.New("this tool was not found in a library")
	}
	return p.Callable(name)
}

// RandomID is the name of the variable with a text that is unique to the run.
const RandomID = "RANDOM_ID"
