package plan

import (
	"slices"

	"github.com/flowrun/flowrun/tool"
)

// Takes says whether a call may give a value for a parameter that is not declared
// (S0-037).
func (p *Plan) Takes(name string) bool {
	def := p.Definition
	return def.Format.Loose() && (def.Schema == nil ||
		!slices.ContainsFunc(def.Schema.Check(map[string]any{name: nil}), func(x tool.FormProblem) bool { return x.Unknown && x.Field == name }))
}
