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
	p.EachUsed(func(path string, s *Step) {
		if s.Claim == nil {
			return
		}
		if s.Claim.Path == "" {
			s.Claim.Path = path
		}
		list = append(list, s.Claim)
	})
	return list
}
