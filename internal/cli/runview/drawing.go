package runview

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/screen/drawing"
)

// StepStates returns the result of every step of a run, by its path without attempts.
func StepStates(r *runresult.Result) map[string]runresult.StepResult {
	m := make(map[string]runresult.StepResult, len(r.Steps))
	for _, s := range r.Steps {
		m[withoutAttempts(s.ID)] = s
	}
	return m
}

// withoutAttempts returns a path without the numbers of attempts.
func withoutAttempts(path string) string { return string(dag.ID(path).WithoutAttempts()) }

// MarkSteps adds the states and durations of a run to a drawing.
func MarkSteps(boxes []drawing.Box, states map[string]runresult.StepResult) {
	for i := range boxes {
		b := &boxes[i]
		if s, ok := states[b.ID]; ok {
			b.Status, b.Duration = s.Status, s.Duration()
		}
		MarkSteps(b.Inside, states)
	}
}
