package plan

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
