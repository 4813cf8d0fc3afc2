package plan

import (
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
)

// Mentioning are the plan's steps that mention a parameter: all of them when
// something tool-wide does.
func (p *Plan) Mentioning(name string) []dag.ID {
	var list []dag.ID
	wide := p.wide(name)
	for _, s := range p.Steps {
		if wide || s.Uses[name] || s.Uses[AnyArgument] {
			list = append(list, dag.ID(s.Def.Name))
		}
	}
	return list
}

// wide says whether something that holds for all steps mentions a parameter.
func (p *Plan) wide(name string) bool {
	texts := []*expr.Template{p.Dir, p.Temp, p.Input}
	for _, v := range p.Environ {
		texts = append(texts, v.Value)
	}
	for _, f := range p.EnvFiles {
		texts = append(texts, f.Path)
	}
	for _, s := range p.Sourced {
		texts = append(texts, s.File, s.Argv)
	}
	return slices.ContainsFunc(texts, func(t *expr.Template) bool {
		return t != nil && slices.ContainsFunc(t.Refs(), func(r expr.Ref) bool { return r.Class == expr.Parameter && r.Root == name })
	})
}
