package plan

import (
	"slices"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/value"
	"github.com/flowrun/flowrun/tool"
)

// Literals are the secrets that authors wrote into the definitions, in nested tools
// too: the definitions are kept with the run. A plan that is used in many places is seen
// once.
func (p *Plan) Literals(seen map[*Plan]bool) (list []string) {
	if seen[p] {
		return nil
	}
	seen[p] = true
	add := func(t *expr.Template) {
		if len(t.Refs()) > 0 {
			return
		}
		if text, err := t.Text(nil); err == nil {
			list = append(list, text)
		}
	}
	for _, e := range p.Environ {
		if slices.ContainsFunc(p.Secrets, func(s tool.Text) bool { return s.S == e.Name }) {
			add(e.Value)
		}
	}
	for _, prm := range p.Params {
		if prm.Initial != nil && p.Secret(prm.Def.Name) && len(prm.Initial.Refs()) == 0 {
			if v, err := prm.Initial.Value(nil); err == nil {
				list = append(list, value.Leaves(v)...)
			}
		}
	}
	for _, s := range p.Steps {
		if base := s.BaseCommand(); base != nil {
			for _, t := range base.Masked {
				add(t)
			}
		}
		if s.Nested != nil {
			list = append(list, s.Nested.Literals(seen)...)
		}
	}
	return list
}
