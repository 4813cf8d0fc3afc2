package plan

import (
	"slices"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// SecretSource is the source of a secret's value. Exactly one of Env, File and Argv is set.
type SecretSource struct {
	Name string // of the variable that gets the value
	Key  string // under which a call of the tool stores the value
	Env  string
	File *expr.Template
	Argv *expr.Template
}

// AllSources returns the sources of the tool and of its steps.
func (p *Plan) AllSources() []SecretSource {
	list := slices.Clone(p.SecretSources)
	p.Each(func(s *Step) { list = append(list, s.SecretSources...) })
	return list
}

// NamedInside returns the names in a definition that environment.secrets can refer to: parameters, variables, and
// secrets with a source of their own, of the tool and of its steps. files reports that env files may define more.
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

// Literals returns the secrets that authors wrote into the definitions, including nested tools: they must be masked,
// because the definitions are stored with the run. seen avoids visiting a plan again that is used in many places.
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
