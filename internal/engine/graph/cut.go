package graph

import (
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/plan"
)

// Until returns the plan reduced to one step and all steps upstream of it, with their handlers. The error is a
// *StepError.
func Until(p *plan.Plan, step string) (*plan.Plan, error) { return cutTo(p, step, true) }

func cutTo(p *plan.Plan, step string, handlers bool) (*plan.Plan, error) {
	if p.ByName[step] == nil {
		return nil, p.NoStep(step)
	}
	c := *p
	c.CutTo = step
	return &c, cut(&c, step, handlers)
}

// Only returns the plan reduced to the step with the given path, which may be in a nested tool, and all steps upstream
// of it, without handlers. The error is a *StepError.
func Only(p *plan.Plan, path string) (*plan.Plan, error) {
	name, _, rest := dag.ID(path).Split()
	cut, err := cutTo(p, name, false)
	if err != nil || rest == "" {
		if err == nil {
			cut.CutTo, cut.WithoutUpstream = path, true
		}
		return cut, err
	}
	last := slices.IndexFunc(cut.Steps, func(s *plan.Step) bool { return s.Def.Name == name })
	outer := *cut.Steps[last]
	if outer.Nested == nil {
		return nil, p.NoStep(path)
	}
	if outer.Nested, err = Only(outer.Nested, string(rest)); err != nil {
		return nil, err
	}
	cut.Steps[last], cut.CutTo, cut.WithoutUpstream = &outer, path, true
	return cut, Build(cut)
}

// WithTimeout returns a copy of the plan that limits the whole run to d, if the definition does not
// limit it to less.
func WithTimeout(p *plan.Plan, d time.Duration) (*plan.Plan, error) {
	c := *p
	if own := p.Definition.Timeout; own == 0 || d < own {
		c.Timeout = d
	}
	return &c, Build(&c)
}

// cut removes all steps except the given one, those upstream of it, and, if handlers is set, their handlers.
func cut(p *plan.Plan, step string, handlers bool) error {
	keep, gateOwner := map[dag.ID]bool{}, map[dag.ID]string{}
	for _, s := range p.Steps {
		if s.Gate != nil {
			gateOwner[s.Gate.ID] = s.Def.Name
		}
	}
	var mark func(id dag.ID)
	mark = func(id dag.ID) {
		if keep[id] {
			return
		}
		keep[id] = true
		if name := gateOwner[id]; name != "" { // the gate is built with a handler step, which must be kept too
			mark(dag.ID(name))
		}
		n, _ := p.Graph.Node(id)
		for _, up := range n.After {
			mark(up)
		}
	}
	mark(dag.ID(step))
	for _, s := range p.Steps { // handlers of a step come after it in the plan
		if handlers && s.Handler != nil && s.Handler.Step != "" && keep[dag.ID(s.Handler.Step)] {
			mark(dag.ID(s.Def.Name))
		}
	}
	all := p.Steps
	p.Steps, p.Output, p.Outputs = nil, nil, nil
	for _, s := range all {
		if keep[dag.ID(s.Def.Name)] {
			p.Steps = append(p.Steps, s)
		}
	}
	return Build(p)
}
