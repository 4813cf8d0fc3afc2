package plan

import (
	"github.com/flowrun/flowrun/dag"
)

// Find is the step with that path, in whatever try, and the plan it stands in; nil
// when there is none.
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
