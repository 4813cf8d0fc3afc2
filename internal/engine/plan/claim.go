package plan

import "github.com/flowrun/flowrun/internal/lang/tool"

// Claim is what each attempt of a step holds while it runs, and shares with other steps and runs.
type Claim struct {
	Path     string // of the step, where the plan uses it first
	Pool     string // "" for none
	Slots    int    // of the pool
	Locks    []tool.Lock
	Priority int
}

// FindClaims returns the claims of all steps, also of those in groups and in tools that the plan uses.
func (p *Plan) FindClaims() (list []*Claim) {
	visited := map[*Plan]bool{}
	var visit func(p *Plan, prefix string)
	visit = func(p *Plan, prefix string) {
		visited[p] = true
		for _, s := range p.Steps {
			if s.Claim != nil {
				if s.Claim.Path == "" {
					s.Claim.Path = prefix + s.Def.Name
				}
				list = append(list, s.Claim)
			}
			if s.Nested != nil && !visited[s.Nested] {
				visit(s.Nested, prefix+s.Def.Name+"/")
			}
		}
	}
	visit(p, "")
	return list
}
