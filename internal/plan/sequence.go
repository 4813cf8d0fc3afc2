package plan

// Each calls visit for every step of the tool, those in groups too.
func (p *Plan) Each(visit func(*Step)) {
	for _, s := range p.Steps {
		visit(s)
		if s.Nested != nil && s.Nested.Group {
			s.Nested.Each(visit)
		}
	}
}
