package dag

import (
	"fmt"
	"strings"
)

// notes returns what people should know about a run beside its status: how many failures
// were tolerated in a success. It visits every step, so it is called only once, at the end
// of the run.
func (s *State) notes(end Status) (notes []string) {
	if end != Succeeded {
		return nil
	}
	tolerated := 0
	s.All(func(_ ID, _ *Node, _ Status, r *Result) {
		if r != nil && r.Tolerated {
			tolerated++
		}
	})
	if tolerated > 0 {
		notes = append(notes, fmt.Sprintf("%d tolerated", tolerated))
	}
	return notes
}

// With returns the status with the notes of its result, for people: "succeeded (2
// tolerated)". Without notes it returns the status alone.
func (s Status) With(notes ...string) string {
	if len(notes) == 0 {
		return s.String()
	}
	return s.String() + " (" + strings.Join(notes, ", ") + ")"
}
