package flowrun

import (
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
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

	params []*param
	steps  []*planStep // in plan order
	graph  *dag.Graph
	names  names

	environ []steps.EnvVar // tool-wide
	dir     *expr.Template // working directory; nil = the caller's
	temp    *expr.Template // temp directory; nil = none of its own
	input   *expr.Template // what steps without an input of their own read
	output  *expr.Template // the run's output; nil = the last executed step's
	secrets []tool.Text
	cleanup *cleanup // nil = nothing to clean up
}

// planStep is one step of a Plan.
type planStep struct {
	def     *tool.Step
	after   []dag.ID // joins included
	join    dag.Node // the join in front of it, where it has one of its own
	when    *expr.Condition
	policy  dag.Policy
	command *steps.Command // nil for use-tool and Go steps
	run     dag.Runner     // command, or the Go function
	nested  *Plan          // use-tool
	with    []withValue
	rule    *tool.Retry     // the retry in force, the step's or the tool's
	retry   *expr.Condition // retry.when
}

// withValue is one entry of use-tool's with.
type withValue struct {
	param string
	value tree
}

// Name is the tool's name.
func (p *Plan) Name() string { return p.Definition.Name }

// Graph is the graph the plan runs.
func (p *Plan) Graph() *dag.Graph { return p.graph }

// Steps are the names of the tool's own steps in plan order.
func (p *Plan) Steps() []string {
	list := make([]string, len(p.steps))
	for i, s := range p.steps {
		list[i] = s.def.Name
	}
	return list
}

// StepError says that a plan has no step of that name.
type StepError struct {
	Tool, Step string
	Near       []string
}

func (e *StepError) Error() string {
	msg := fmt.Sprintf("tool %s has no step %q", e.Tool, e.Step)
	if len(e.Near) > 0 {
		msg += fmt.Sprintf("; did you mean %s?", e.Near[0])
	}
	return msg
}

// Until is the plan cut down to one step and everything that step waits for. The
// error is a *StepError.
func (p *Plan) Until(step string) (*Plan, error) {
	if p.Step(step) == nil {
		return nil, &StepError{Tool: p.Name(), Step: step, Near: tool.Near(step, p.Steps())}
	}
	keep := map[dag.ID]bool{}
	var mark func(id dag.ID)
	mark = func(id dag.ID) {
		if keep[id] {
			return
		}
		keep[id] = true
		n, _ := p.graph.Node(id)
		for _, up := range n.After {
			mark(up)
		}
	}
	mark(dag.ID(step))
	cut := *p
	cut.steps, cut.output = nil, nil
	for _, s := range p.steps {
		if keep[dag.ID(s.def.Name)] {
			cut.steps = append(cut.steps, s)
		}
	}
	err := cut.build()
	return &cut, err
}

// build makes the graph of the plan's steps.
func (p *Plan) build() error {
	nodes := make([]dag.Node, 0, len(p.steps)+p.joins()+1)
	all := make([]dag.ID, 0, len(p.steps))
	for _, s := range p.steps {
		if s.join.ID != "" {
			nodes = append(nodes, s.join)
		}
		nodes = append(nodes, s.node())
		all = append(all, dag.ID(s.def.Name))
	}
	if p.cleanup != nil {
		nodes = append(nodes, dag.Node{
			ID: cleanupID, After: all, Runner: p.cleanup, Aside: true,
			When:   &dag.When{Eval: func(dag.View) (bool, error) { return true, nil }, Sees: dag.SeesCancel},
			Policy: dag.Policy{Timeout: dag.DefaultCleanup},
		})
	}
	g, err := dag.New(nodes, p.settings())
	p.graph = g
	return err
}

// joins is how many steps have a join of their own.
func (p *Plan) joins() (n int) {
	for _, s := range p.steps {
		if s.join.ID != "" {
			n++
		}
	}
	return n
}

// cleanupID is the node that runs resources.cleanup after everything else. The
// sign keeps it apart from every step's name.
const cleanupID dag.ID = "@cleanup"

// node is the step's node in the graph.
func (s *planStep) node() dag.Node {
	n := dag.Node{ID: dag.ID(s.def.Name), After: s.after, Runner: s.run, Policy: s.policy}
	if s.when != nil {
		n.When = &dag.When{Eval: s.eval, Sees: sees[s.when.Uses()]}
	}
	if s.nested != nil {
		n.Graph, n.Bind = s.nested.graph, s.bind
	}
	return n
}

var sees = map[expr.Uses]dag.Sees{
	expr.UsesNone: dag.SeesResults, expr.UsesOutcome: dag.SeesOutcome, expr.UsesCancel: dag.SeesCancel,
}

// Secret says whether a parameter's value is masked: environment.secrets or some
// masked-values name it.
func (p *Plan) Secret(param string) bool {
	if slices.ContainsFunc(p.secrets, func(s tool.Text) bool { return s.S == param }) {
		return true
	}
	for _, s := range p.steps {
		if s.command == nil {
			continue
		}
		for _, t := range s.command.Masked {
			if slices.ContainsFunc(t.Refs(), func(r expr.Ref) bool { return r.Class == expr.Parameter && r.Root == param }) {
				return true
			}
		}
	}
	return false
}

// eval decides the step's run-condition. The error becomes the step's message,
// which leaves the engine.
func (s *planStep) eval(v dag.View) (bool, error) {
	a := v.Args().(*Args)
	yes, err := s.when.Eval(scope{view: v, args: a}, expr.Status{Tainted: v.Tainted(), Cancelled: v.Stopped()})
	return yes, a.withoutSecrets(err)
}

// retryIf decides retry.exit-codes, not-exit-codes and when after a failed try.
func (s *planStep) retryIf(v dag.View, r *dag.Result) bool {
	switch {
	case len(s.rule.ExitCodes) > 0 && !slices.Contains(s.rule.ExitCodes, r.ExitCode),
		slices.Contains(s.rule.NotExitCodes, r.ExitCode):
		return false
	case s.retry == nil:
		return true
	}
	again, err := s.retry.Eval(scope{view: v, args: v.Args().(*Args), last: r}, expr.Status{})
	return err == nil && again
}

// settings are what holds for the plan's graph as a whole.
func (p *Plan) settings() dag.Settings {
	s := dag.Settings{FailFast: p.Definition.FailFast, Timeout: p.Definition.Timeout}
	if p.output != nil {
		s.Finish = func(v dag.View, r *dag.Result) { p.finish(v, r) }
	}
	return s
}

// finish renders the tool's output template over its steps' results.
func (p *Plan) finish(v dag.View, r *dag.Result) {
	a := v.Args().(*Args)
	text, err := p.output.Text(scope{view: v, args: a})
	if err == nil {
		r.Stdout, err = a.session.Text(a.path+"@output", 1, text)
		r.Value = nil
	}
	if err != nil && r.Status == dag.Succeeded {
		r.Status, r.ExitCode, r.Reason = dag.Failed, 1, "output"
		r.Message = a.session.Mask().String(fmt.Sprintf("cannot render the tool's output: %v", err))
	}
}

// defaultRetryDelay is used where retry says nothing.
const defaultRetryDelay = time.Second
