package plan

import (
	"github.com/flowrun/flowrun/dag"
)

// Handler says when the step with that path runs, where it is one of a list of handlers:
// the key of the list (on-success, on-failure or finally) and the step it belongs to, ""
// for the tool. For other steps both are "".
func (p *Plan) Handler(path string) (key, step string) {
	if _, s := p.Find(dag.ID(path)); s != nil && s.Handler != nil {
		return s.Handler.Key, s.Handler.Step
	}
	return "", ""
}
