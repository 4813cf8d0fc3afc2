package plan

import (
	"slices"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/value"
	"github.com/flowrun/flowrun/tool"
)

// SecretSource is where the value of a secret comes from. Exactly one of
// env, file and argv is set.
type SecretSource struct {
	Name string // of the variable that gets the value
	Key  string // under which a call of the tool keeps it
	Env  string
	File *expr.Template
	Argv *expr.Template
}

// AllSources are those of the tool and of its steps.
func (p *Plan) AllSources() []SecretSource {
	list := slices.Clone(p.Sourced)
	p.Each(func(s *Step) { list = append(list, s.Sourced...) })
	return list
}

// NamedInside are the names in a definition that a secret may be about: parameters,
// variables, and secrets with a source of their own, of the tool and of its steps. files
// says that env files may give more.
func (p *Plan) NamedInside() (list []string, files bool) {
	for _, prm := range p.Params {
		list = append(list, prm.Def.Name)
	}
	for _, e := range p.Environ {
		list = append(list, e.Name)
	}
	for _, s := range p.AllSources() {
		list = append(list, s.Name)
	}
	p.Each(func(s *Step) {
		if base := s.BaseCommand(); base != nil {
			files = files || len(base.EnvFiles) > 0
			for _, e := range base.Env {
				list = append(list, e.Name)
			}
		}
	})
	return list, files
}

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
				list = append(list, value.Scalars(v)...)
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
