package graph

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/artifactstep"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/keptstate"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/resultcache"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// runner returns the runner of the step's node. It keeps the values that the step sets. If the step has a cache, it looks
// for a stored result first; if it has artifacts, it keeps them afterwards.
func runner(s *plan.Step) dag.Runner {
	if s.Runner == nil {
		return nil
	}
	r := withState(s.Runner)
	if s.Cache != nil {
		cached := *s
		cached.Runner = r
		r = resultcache.Step{Step: &cached}
	} else if !s.NoSlot {
		r = resultcache.Uncached{Runner: r}
	}
	return keepingArtifacts(s, r)
}

// withState returns the runner that keeps the values which a command sets. It returns the same runner for a tool without
// state.
func withState(r dag.Runner) dag.Runner {
	if cmd := plan.CommandOf(r); cmd == nil || len(cmd.State) == 0 {
		return r
	}
	return keptstate.Step{Runner: r}
}

// keepingArtifacts returns a runner that keeps the step's artifacts after r has run.
func keepingArtifacts(s *plan.Step, r dag.Runner) dag.Runner {
	if r == nil || len(s.Artifacts) == 0 {
		return r
	}
	return artifactstep.Step{Step: s, Work: r}
}

// Build builds the graph of the plan and stores it in the plan.
func Build(p *plan.Plan) error {
	nodes := make([]dag.Node, 0, len(p.Steps)+countJoins(p)+1)
	for _, s := range p.Steps { // the graph of a group is built together with that of its tool
		if s.Nested != nil && s.Nested.Group && s.Nested.Graph == nil {
			if err := Build(s.Nested); err != nil {
				return err
			}
		}
	}
	p.HasCleanup = p.Cleanup != nil || slices.ContainsFunc(p.Steps, func(s *plan.Step) bool { return s.IsModule() || s.Nested != nil && s.Nested.HasCleanup })
	all := make([]dag.ID, 0, len(p.Steps))
	p.KeepsState = len(p.Definition.State) > 0 || slices.ContainsFunc(p.Steps, func(s *plan.Step) bool { return s.Nested != nil && s.Nested.KeepsState })
	p.ByName = make(map[string]*plan.Step, len(p.Steps))
	for _, s := range p.Steps {
		p.ByName[s.Def.Name] = s
		if s.Gate != nil {
			nodes = append(nodes, gateNode(s, all))
		}
		if s.Join != nil {
			nodes = append(nodes, *s.Join)
		}
		nodes = append(nodes, node(s))
		all = append(all, dag.ID(s.Def.Name))
	}
	if p.Cleanup != nil {
		nodes = append(nodes, dag.Node{
			ID: plan.CleanupID, After: all, Runner: cleanupRunner{p.Cleanup}, Cleanup: true,
			When:   &dag.When{Eval: func(dag.View) (bool, error) { return true, nil }, Uses: dag.UsesCancel},
			Policy: dag.Policy{Timeout: dag.DefaultCleanup},
		})
	}
	g, err := dag.New(nodes, settings(p))
	p.SetGraph(g)
	return err
}

// countJoins returns the number of steps that have a join of their own.
func countJoins(p *plan.Plan) (n int) {
	for _, s := range p.Steps {
		if s.Join != nil {
			n++
		}
	}
	return n
}

// node returns the step's node in the graph.
func node(s *plan.Step) dag.Node {
	n := dag.Node{Runner: runner(s), Policy: s.Policy, DurableStart: s.Interrupt == plan.FailWhenInterrupted, NoSlot: s.NoSlot}
	if s.Policy.Fallback != nil {
		n.Policy.Fallback = resultcache.Uncached{Runner: withState(s.Policy.Fallback)}
	}
	if s.Claim != nil {
		n.Claim = s.Claim
	}
	n.Policy.Fallback = keepingArtifacts(s, n.Policy.Fallback)
	if s.Nested != nil {
		n.Graph = s.Nested.Graph
		if !s.Nested.Group {
			n.Bind = func(ctx context.Context, c *dag.Call) (dag.Args, error) { return bind(ctx, s, c) }
		}
	}
	if s.Loop != nil {
		n = dag.Node{Each: loopNode(s, n), Policy: dag.Policy{Tolerate: s.Policy.Tolerate}}
	}
	n.ID, n.After = dag.ID(s.Def.Name), s.After
	n.NoOutput = s.Silent()
	switch {
	case s.Handler != nil:
		n.When = handlerCondition(s)
	case s.Loop == nil || !s.Loop.When:
		n.When = condition(s)
	}
	return n
}

// condition returns the step's run-condition, or nil if it has none.
func condition(s *plan.Step) *dag.When {
	switch {
	case s.Decide != nil:
		return &dag.When{Eval: s.Decide}
	case s.When == nil:
		return nil
	}
	return &dag.When{Eval: func(v dag.View) (bool, error) { return eval(s, v) }, Uses: usesOf[s.When.Uses()]}
}

var usesOf = map[expr.Uses]dag.Uses{
	expr.UsesNone: dag.UsesResults, expr.UsesOutcome: dag.UsesOutcome, expr.UsesCancel: dag.UsesCancel,
}

// eval evaluates the step's run-condition. Secrets are removed from the error, because it becomes the step's message,
// which is stored and shown.
func eval(s *plan.Step, v dag.View) (bool, error) {
	a := call.FrameOf(v.Args())
	yes, err := s.When.Eval(call.Scope{View: v, Frame: a}, expr.Status{Tainted: v.Tainted(), Cancelled: v.Stopped()})
	return yes, a.WithoutSecrets(err)
}

// RetryIf evaluates retry.exit-codes, not-exit-codes and when after a failed attempt. If when cannot be evaluated, there
// is no retry, and the result says why.
func RetryIf(s *plan.Step, v dag.View, r *dag.Result) bool {
	switch {
	case len(s.RetryRule.ExitCodes) > 0 && !slices.Contains(s.RetryRule.ExitCodes, r.ExitCode),
		slices.Contains(s.RetryRule.NotExitCodes, r.ExitCode):
		return false
	case s.RetryWhen == nil:
		return true
	}
	a := call.FrameOf(v.Args())
	again, err := s.RetryWhen.Eval(call.Scope{View: v, Frame: a, Last: r}, expr.Status{})
	if err != nil {
		why := "no retry, because its condition cannot be evaluated: " + a.WithoutSecrets(err).Error()
		r.Message = strings.Join(slices.DeleteFunc([]string{r.Message, why}, func(s string) bool { return s == "" }), "; ")
	}
	return err == nil && again
}

// LastRound evaluates repeat.until, or repeat.while, after a round with result r.
func LastRound(s *plan.Step, v dag.View, r *dag.Result) (bool, error) {
	a := call.FrameOf(v.Args())
	yes, err := s.RepeatUntil.Eval(call.Scope{View: v, Frame: a, Last: r, Own: s.Def.Name}, expr.Status{})
	return yes == (s.Def.Repeat.Until != nil), a.WithoutSecrets(err)
}

// settings returns the settings of the plan's graph as a whole.
func settings(p *plan.Plan) dag.Settings {
	s := dag.Settings{InheritResults: true}
	if !p.Group {
		s = dag.Settings{FailFast: p.Definition.FailFast, Timeout: cmp.Or(p.Timeout, p.Definition.Timeout)}
	}
	if p.Output != nil || p.HasCleanup || declaresOutputs(p) || p.KeepsState || p.KeepsArtifacts() {
		s.Finish = func(v dag.View, r *dag.Result) { finish(p, v, r) }
	}
	return s
}

// gateNode returns the join before handlers. That of the tool's handlers waits for all steps.
func gateNode(s *plan.Step, all []dag.ID) dag.Node {
	n := *s.Gate
	if s.Handler.Step == "" {
		n.After = append([]dag.ID{}, all...) // not nil, so that it is a summary even if there are no steps
		n.Summarizes = n.After
	}
	return n
}
