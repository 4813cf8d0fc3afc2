package plan

import (
	"slices"

	"github.com/flowrun/flowrun/expr"
)

// SecretSource is where the value of a secret comes from (S1-174). Exactly one of
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
