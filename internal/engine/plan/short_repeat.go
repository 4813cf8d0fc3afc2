package plan

import "time"

// ShortRepeat returns the path of a step that repeats for a limited time, with less than shortest between two rounds, also of
// a step in a group or tool; "" if there is none.
func (p *Plan) ShortRepeat(shortest time.Duration) string {
	for _, s := range p.Steps {
		if r := s.Def.Repeat; r != nil && r.Timeout > 0 && r.Every < shortest {
			return s.Def.Name
		}
		if s.Nested == nil {
			continue
		}
		if inner := s.Nested.ShortRepeat(shortest); inner != "" {
			return s.Def.Name + "/" + inner
		}
	}
	return ""
}
