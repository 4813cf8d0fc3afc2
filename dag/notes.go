package dag

import (
	"fmt"
	"strings"
)

// notes are what people should know of a run beside the status it ends with: how many
// failures a success tolerated. Every step is visited, so this is done once, when the run
// ends.
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

// With is the status as people read it, with the notes of its result: "succeeded (2
// tolerated)". Without notes it is the status alone.
func (s Status) With(notes ...string) string {
	if len(notes) == 0 {
		return s.String()
	}
	return s.String() + " (" + strings.Join(notes, ", ") + ")"
}
