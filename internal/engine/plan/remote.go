package plan

// UsesSSH reports whether a step of the plan, or of its groups and tools, runs on another machine.
func (p *Plan) UsesSSH() bool {
	for _, s := range p.Steps {
		if s.Command != nil && s.Command.Remote != nil || s.Nested != nil && s.Nested.UsesSSH() {
			return true
		}
	}
	return false
}
