package plan

func (p *Plan) Param(name string) *Param {
	for _, prm := range p.Params {
		if prm.Def.Name == name {
			return prm
		}
	}
	return nil
}
