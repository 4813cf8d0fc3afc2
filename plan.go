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
type compiledPlan struct {
	// Definition is what was compiled; for an alias the base tool's with the
	// alias's name, defaults and description.
	Definition *tool.Definition
	// Warnings are problems that did not keep the tool from compiling, in nested
	// tools too.
	Warnings tool.Diagnostics

	params  []*param
	steps   []*planStep // in plan order
	byName  map[string]*planStep
	sources []tool.Source // of the tool and of what it uses, in the order they were found
	only    string        // the step a cut plan ends with, "" for the whole tool
	alone   bool          // of what Only cut down: nothing but that step is to run
	graph   *dag.Graph

	environ  []steps.EnvVar  // tool-wide
	envFiles []steps.EnvFile // tool-wide
	dir      *expr.Template  // working directory; nil = the caller's
	temp     *expr.Template  // temp directory; nil = none of its own
	input    *expr.Template  // what steps without an input of their own read
	answer   *expr.Template  // default response of interactive steps without one of their own
	output   *expr.Template  // the run's output; nil = that of a step, see dag.Graph
	secrets  []tool.Text     // that are only named, the steps' too
	sourced  []secretSource  // tool-wide
	gates    []dag.ID        // joins that handlers see the run's outcome at
	loops    map[string]bool // steps that loop, those in groups too
	size     int64           // how many steps a run has, at most mostCounted
	cleans   bool            // it has a cleanup, or a tool that it uses has
	scripts  map[string]bool // steps of JavaScript, those in groups too
	group    bool            // the steps of a group: a graph within its tool's
	cleanup  *cleanup        // nil = nothing to clean up
	needed   []permission    // required-permissions
	// callable is the plan of another tool, for scripts that call it; nil where none can be.
	callable func(name string) (*compiledPlan, error)
}

// cleanup is what is done after everything else: final commands, and the temporary directory
// goes.
type cleanup struct{ commands []*steps.Command }

// planStep is one step of a Plan.
type planStep struct {
	def     *tool.Step
	after   []dag.ID // joins included
	join    dag.Node // the join in front of it, where it has one of its own
	when    *expr.Condition
	policy  dag.Policy
	command *steps.Command // nil for use-tool, JavaScript and Go steps
	script  *planScript    // nil for all but JavaScript steps
	run     dag.Runner     // command, script, or the Go function
	nested  *compiledPlan  // use-tool, or a group's
	with    []withValue
	withAll *tree       // an object whose fields are given as well; nil for none
	loop    *planLoop   // for-each or matrix; nil runs it once
	handler *handler    // nil: an ordinary step
	gate    dag.Node    // in front of the first handler
	rule    *tool.Retry // the retry in force, the step's or the tool's

	sourced   []secretSource           // its own
	interrupt interrupt                // what becomes of it when the engine dies meanwhile
	mentioned map[string]steps.Streams // steps its texts mention, and what of them they read
	uses      map[string]bool          // parameters its texts mention
	retry     *expr.Condition          // retry.when
	cache     *cacheRule               // nil: it always runs
}

// baseCommand is what a step has beside its command or its script: environment, output and
// what is masked. nil for steps without either.
func (s *planStep) baseCommand() *steps.Command {
	if s.script != nil {
		return s.script.base
	}
	return s.command
}

// withValue is one entry of use-tool's with.
type withValue struct {
	param string
	value tree
}

// withKey is what the values for a tool that a step uses stand under.
func (p *compiledPlan) withKey() string {
	if p.Definition.Format == tool.Markdown {
		return "parameters"
	}
	return "with"
}

// Name is the tool's name.
func (p *compiledPlan) Name() string { return p.Definition.Name }

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

// Until is the plan cut down to one step and everything that step waits for, with the
// handlers of these steps. The error is a *StepError.
func (p *compiledPlan) Until(step string) (*compiledPlan, error) { return p.upTo(step, true) }

func (p *compiledPlan) upTo(step string, handlers bool) (*compiledPlan, error) {
	if p.byName[step] == nil {
		return nil, p.noStep(step)
	}
	cut := *p
	cut.only = step
	return &cut, cut.cut(step, handlers)
}

// Only is the plan cut down to the step with that path, which may lie in a nested
// tool, and everything it waits for. The error is a *StepError.
func (p *compiledPlan) Only(path string) (*compiledPlan, error) {
	name, _, rest := dag.ID(path).Split()
	cut, err := p.upTo(name, false)
	if err != nil || rest == "" {
		if err == nil {
			cut.only, cut.alone = path, true
		}
		return cut, err
	}
	last := slices.IndexFunc(cut.steps, func(s *planStep) bool { return s.def.Name == name })
	outer := *cut.steps[last]
	if outer.nested == nil {
		return nil, p.noStep(path)
	}
	if outer.nested, err = outer.nested.Only(string(rest)); err != nil {
		return nil, err
	}
	cut.steps[last], cut.only, cut.alone = &outer, path, true
	return cut, cut.build()
}

func (p *compiledPlan) noStep(step string) error {
	return &StepError{Tool: p.Name(), Step: step, Near: tool.Near(string(dag.ID(step).WithoutKeys()), p.paths(""))}
}

// paths are those of all steps, the ones inside others included.
func (p *compiledPlan) paths(prefix string) []string {
	var list []string
	for _, s := range p.steps {
		list = append(list, prefix+s.def.Name)
		if s.nested != nil {
			list = append(list, s.nested.paths(prefix+s.def.Name+"/")...)
		}
	}
	return list
}

// cut drops every step but one and what it waits for, and the handlers of those where
// they are wanted.
func (p *compiledPlan) cut(step string, handlers bool) error {
	keep, brings := map[dag.ID]bool{}, map[dag.ID]string{}
	for _, s := range p.steps {
		brings[s.gate.ID] = s.def.Name
	}
	var mark func(id dag.ID)
	mark = func(id dag.ID) {
		if keep[id] {
			return
		}
		keep[id] = true
		if name := brings[id]; name != "" { // a gate stands in front of the step that brings it
			mark(dag.ID(name))
		}
		n, _ := p.graph.Node(id)
		for _, up := range n.After {
			mark(up)
		}
	}
	mark(dag.ID(step))
	for _, s := range p.steps { // those of a step stand behind it
		if handlers && s.handler != nil && s.handler.step != "" && keep[dag.ID(s.handler.step)] {
			mark(dag.ID(s.def.Name))
		}
	}
	all := p.steps
	p.steps, p.output = nil, nil
	for _, s := range all {
		if keep[dag.ID(s.def.Name)] {
			p.steps = append(p.steps, s)
		}
	}
	return p.build()
}

// build makes the graph of the plan's steps.
func (p *compiledPlan) build() error {
	nodes := make([]dag.Node, 0, len(p.steps)+p.joins()+1)
	for _, s := range p.steps { // the graph of a group is built with that of its tool
		if s.nested != nil && s.nested.group && s.nested.graph == nil {
			if err := s.nested.build(); err != nil {
				return err
			}
		}
	}
	p.cleans = p.cleanup != nil || slices.ContainsFunc(p.steps, func(s *planStep) bool { return s.nested != nil && s.nested.cleans })
	all := make([]dag.ID, 0, len(p.steps))
	p.byName = make(map[string]*planStep, len(p.steps))
	for _, s := range p.steps {
		p.byName[s.def.Name] = s
		if s.gate.ID != "" {
			nodes = append(nodes, s.gateNode(all))
		}
		if s.join.ID != "" {
			nodes = append(nodes, s.join)
		}
		nodes = append(nodes, s.node())
		all = append(all, dag.ID(s.def.Name))
	}
	if p.cleanup != nil {
		nodes = append(nodes, dag.Node{
			ID: cleanupID, After: all, Runner: cleanupRunner{p.cleanup}, Aside: true,
			When:   &dag.When{Eval: func(dag.View) (bool, error) { return true, nil }, Sees: dag.SeesCancel},
			Policy: dag.Policy{Timeout: dag.DefaultCleanup},
		})
	}
	g, err := dag.New(nodes, p.settings())
	p.graph = g
	return err
}

// joins is how many steps have a join of their own.
func (p *compiledPlan) joins() (n int) {
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
	n := dag.Node{Runner: s.runner(), Policy: s.policy, Sure: s.interrupt == failWhenInterrupted, Idle: s.def.Kind == tool.Waiting || s.def.Kind == tool.Asking}
	if s.nested != nil {
		n.Graph = s.nested.graph
		if !s.nested.group {
			n.Bind = s.bind
		}
	}
	if s.loop != nil {
		n = dag.Node{Each: s.each(n), Policy: dag.Policy{Tolerate: s.policy.Tolerate}}
	}
	n.ID, n.After = dag.ID(s.def.Name), s.after
	n.Silent = s.silent()
	switch {
	case s.handler != nil:
		n.When = s.whenHandled()
	case s.loop == nil || !s.loop.when:
		n.When = s.condition()
	}
	return n
}

// silent says whether the step's output is never the run's.
func (s *planStep) silent() bool {
	return s.handler != nil || s.def.Kind == tool.Waiting || s.def.Kind == tool.Asking && s.def.Approve.Form == nil
}

// condition is the step's run-condition, nil where it has none.
func (s *planStep) condition() *dag.When {
	if s.when == nil {
		return nil
	}
	return &dag.When{Eval: s.eval, Sees: sees[s.when.Uses()]}
}

var sees = map[expr.Uses]dag.Sees{
	expr.UsesNone: dag.SeesResults, expr.UsesOutcome: dag.SeesOutcome, expr.UsesCancel: dag.SeesCancel,
}

// Secret says whether a parameter's value is masked: environment.secrets or some
// masked-values name it.
func (p *compiledPlan) Secret(param string) bool {
	if slices.ContainsFunc(p.secrets, func(s tool.Text) bool { return s.S == param }) {
		return true
	}
	secret := false
	p.each(func(s *planStep) {
		base := s.baseCommand()
		if base == nil {
			return
		}
		for _, t := range base.Masked {
			secret = secret || slices.ContainsFunc(t.Refs(), func(r expr.Ref) bool { return r.Class == expr.Parameter && r.Root == param })
		}
	})
	return secret
}

// eval decides the step's run-condition. The error becomes the step's message,
// which leaves the engine.
func (s *planStep) eval(v dag.View) (bool, error) {
	a := v.Args().(*callArgs)
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
	again, err := s.retry.Eval(scope{view: v, args: v.Args().(*callArgs), last: r}, expr.Status{})
	return err == nil && again
}

// settings are what holds for the plan's graph as a whole.
func (p *compiledPlan) settings() dag.Settings {
	s := dag.Settings{Within: true}
	if !p.group {
		s = dag.Settings{FailFast: p.Definition.FailFast, Timeout: p.Definition.Timeout}
	}
	if p.output != nil || p.cleans {
		s.Finish = func(v dag.View, r *dag.Result) { p.finish(v, r) }
	}
	return s
}

// finish completes the result of the plan's graph.
func (p *compiledPlan) finish(v dag.View, r *dag.Result) {
	if p.cleans {
		p.uncleaned(v, r)
	}
	if p.output != nil {
		p.render(v, r)
	}
}

// render makes the tool's output of its steps' results. Without success a run has an
// output only if all steps that it names ran.
func (p *compiledPlan) render(v dag.View, r *dag.Result) {
	a := v.Args().(*callArgs)
	if a.path == "" && r.Status != dag.Succeeded && !p.ranForOutput(v) {
		r.Stdout, r.Value, r.Structured, r.Content = nil, nil, false, nil
		return
	}
	text, err := p.output.Text(scope{view: v, args: a})
	if err == nil {
		r.Stdout, err = a.Session().Text(a.path+"@output", 1, text)
		r.Value, r.Structured, r.Content = nil, false, nil
	}
	if err != nil && r.Status == dag.Succeeded {
		r.Status, r.ExitCode, r.Reason = dag.Failed, 1, "output"
		r.Message = a.Session().Mask().String(fmt.Sprintf("cannot render the tool's output: %v", err))
	}
}

// ranForOutput says whether the output template names steps, and all of them ran.
func (p *compiledPlan) ranForOutput(v dag.View) bool {
	mentioned := map[string]steps.Streams{}
	for _, ref := range p.output.Refs() {
		mention(mentioned, ref)
	}
	for name := range mentioned {
		if r := v.Result(dag.ID(name)); r == nil || !r.Status.Executed() {
			return false
		}
	}
	return len(mentioned) > 0
}

// defaultRetryDelay is used where retry says nothing.
const defaultRetryDelay = time.Second

// commandOf is the command that a Runner runs, nil for a script and for what is written in
// Go. A Runner around a command says which it is.
func commandOf(r dag.Runner) *steps.Command {
	if around, ok := r.(interface{ Around() *steps.Command }); ok {
		return around.Around()
	}
	cmd, _ := r.(*steps.Command)
	return cmd
}
