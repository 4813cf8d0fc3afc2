package graph

import (
	"cmp"
	"context"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/internal/resultcache"
)

// runner returns the runner of the step's node. If the step has a cache, the runner looks for a stored result first.
func runner(s *plan.Step) dag.Runner {
	if s.Cache == nil || s.Runner == nil {
		return s.Runner
	}
	return resultcache.Step{Step: s}
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
	p.HasCleanup = p.Cleanup != nil || slices.ContainsFunc(p.Steps, func(s *plan.Step) bool { return s.Nested != nil && s.Nested.HasCleanup })
	all := make([]dag.ID, 0, len(p.Steps))
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
	p.Graph = g
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
	if s.When == nil {
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
	a := v.Args().(*call.Frame)
	yes, err := s.When.Eval(call.Scope{View: v, Frame: a}, expr.Status{Tainted: v.Tainted(), Cancelled: v.Stopped()})
	return yes, a.WithoutSecrets(err)
}

// RetryIf evaluates retry.exit-codes, not-exit-codes and when after a failed attempt.
func RetryIf(s *plan.Step, v dag.View, r *dag.Result) bool {
	switch {
	case len(s.RetryRule.ExitCodes) > 0 && !slices.Contains(s.RetryRule.ExitCodes, r.ExitCode),
		slices.Contains(s.RetryRule.NotExitCodes, r.ExitCode):
		return false
	case s.RetryWhen == nil:
		return true
	}
	again, err := s.RetryWhen.Eval(call.Scope{View: v, Frame: v.Args().(*call.Frame), Last: r}, expr.Status{})
	return err == nil && again
}

// settings returns the settings of the plan's graph as a whole.
func settings(p *plan.Plan) dag.Settings {
	s := dag.Settings{InheritResults: true}
	if !p.Group {
		s = dag.Settings{FailFast: p.Definition.FailFast, Timeout: cmp.Or(p.Timeout, p.Definition.Timeout)}
	}
	if p.Output != nil || p.HasCleanup {
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
