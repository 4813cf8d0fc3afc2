package plan

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Find returns the step with that path, in whatever attempt, and the plan that contains it; nil if there is none.
func (p *Plan) Find(path dag.ID) (*Plan, *Step) {
	name, _, rest := path.Split()
	switch s := p.ByName[name]; {
	case s == nil:
		return nil, nil
	case rest == "":
		return p, s
	case s.Nested != nil:
		return s.Nested.Find(rest)
	}
	return nil, nil
}

// Waves returns for every node how many steps must end before it, one after another.
func (p *Plan) Waves() map[dag.ID]int {
	waves := map[dag.ID]int{}
	for _, n := range p.Graph.Nodes() { // in plan order: upstream comes first
		depth := 0
		for _, up := range n.After {
			depth = max(depth, waves[up])
		}
		if !IsJoin(&n) {
			depth++
		}
		waves[n.ID] = depth
	}
	return waves
}

// Nested returns the plan of the tool that the step with that path uses, nil for other steps.
func (p *Plan) Nested(step string) *Plan {
	if _, s := p.Find(dag.ID(step)); s != nil {
		return s.Nested
	}
	return nil
}

// Step returns the definition of the step with that path, nil if there is none.
func (p *Plan) Step(path string) *tool.Step {
	if _, s := p.Find(dag.ID(path)); s != nil {
		return s.Def
	}
	return nil
}

// Place returns where the step with that path is written, the zero Pos if it is not in a file.
func (p *Plan) Place(path string) tool.Pos {
	in, s := p.Find(dag.ID(path))
	switch {
	case s == nil:
		return tool.Pos{}
	case in.Definition.Single && s.Def.Command().Pos.Line > 0: // the step is the tool
		return s.Def.Command().Pos
	case in.Definition.Single && s.Script != nil:
		return s.Def.Script().Code.Pos
	}
	return s.Def.Pos
}

// Handler returns when the step with that path runs, if it is in a list of handlers: the key of the list (on-success,
// on-failure or finally) and the step it belongs to, "" for the tool. For other steps both are "".
func (p *Plan) Handler(path string) (key, step string) {
	if _, s := p.Find(dag.ID(path)); s != nil && s.Handler != nil {
		return s.Handler.Key, s.Handler.Step
	}
	return "", ""
}

// Each calls visit for every step of the tool, including those in groups.
func (p *Plan) Each(visit func(*Step)) {
	for _, s := range p.Steps {
		visit(s)
		if s.Nested != nil && s.Nested.Group {
			s.Nested.Each(visit)
		}
	}
}

// EachUsed calls visit for every step of the tool, including those in groups and in tools that it uses, with its path where
// the plan has it first.
func (p *Plan) EachUsed(visit func(path string, s *Step)) {
	visited := map[*Plan]bool{}
	var each func(p *Plan, prefix string)
	each = func(p *Plan, prefix string) {
		visited[p] = true
		for _, s := range p.Steps {
			visit(prefix+s.Def.Name, s)
			if s.Nested != nil && !visited[s.Nested] {
				each(s.Nested, prefix+s.Def.Name+"/")
			}
		}
	}
	each(p, "")
}
