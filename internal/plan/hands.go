package plan

import (
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// Streams are the steps of the plan, nested ones included, that stream to where.
func (p *Plan) Streams(to steps.StreamTo) []*tool.Step {
	var list []*tool.Step
	for _, s := range p.Steps {
		if s.Nested != nil {
			list = append(list, s.Nested.Streams(to)...)
		}
		if base := s.BaseCommand(); base != nil && base.Stream != nil && base.Stream.To == to {
			list = append(list, s.Def)
		}
	}
	return list
}
