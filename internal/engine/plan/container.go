package plan

import "slices"

// HasContainers reports whether a step of the plan, or of its groups and tools, has a container of its own.
func (p *Plan) HasContainers() bool {
	return slices.ContainsFunc(p.Steps, func(s *Step) bool {
		return s.Def.Container != nil || s.Nested != nil && s.Nested.HasContainers()
	})
}
