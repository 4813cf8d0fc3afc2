package runview

import (
	"strings"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/console"
)

// Boxes converts the steps of a plan to boxes of a drawing. prefix is the path of the step that
// contains them, with a slash, or "".
func Boxes(p *flowrun.Plan, prefix string) []console.Box {
	var boxes []console.Box
	for _, name := range p.Steps() {
		s := p.Step(name)
		b := console.Box{ID: prefix + name, Name: name, Kind: string(s.Kind())}
		b.Note = stepRole(p, name)
		if s.RunCondition != nil {
			b.Condition = s.RunCondition.S
		}
		for _, up := range p.Upstream(name) {
			b.After = append(b.After, prefix+up)
		}
		if inner := p.Nested(name); inner != nil {
			if s.Steps() == nil {
				b.Kind = inner.Name()
			}
			b.Inside = Boxes(inner, b.ID+"/")
		}
		boxes = append(boxes, b)
	}
	return boxes
}

// stepRole describes when a step runs (as a handler) and how often (as a loop).
func stepRole(p *flowrun.Plan, step string) string {
	var words []string
	switch key, of := p.Handler(step); {
	case of != "":
		words = append(words, key+" of "+of)
	case key != "":
		words = append(words, key)
	}
	switch l := p.Step(step).Loop; {
	case l == nil:
	case l.Matrix():
		words = append(words, "matrix")
	default:
		words = append(words, "for-each")
	}
	return strings.Join(words, ", ")
}

// StepStates returns the result of every step of a run, by its path without attempts.
func StepStates(r *flowrun.Result) map[string]flowrun.StepResult {
	m := make(map[string]flowrun.StepResult, len(r.Steps))
	for _, s := range r.Steps {
		m[withoutAttempts(s.ID)] = s
	}
	return m
}

// withoutAttempts returns a path without the numbers of attempts.
func withoutAttempts(path string) string { return string(dag.ID(path).WithoutAttempts()) }

// MarkSteps adds the states and durations of a run to a drawing.
func MarkSteps(boxes []console.Box, states map[string]flowrun.StepResult, now time.Time) {
	for i := range boxes {
		b := &boxes[i]
		if s, ok := states[b.ID]; ok {
			b.Status = s.Status
			switch {
			case s.Status == dag.Running:
				b.Duration = now.Sub(s.Started)
			case !s.Started.IsZero() && !s.Ended.IsZero():
				b.Duration = s.Ended.Sub(s.Started)
			}
		}
		MarkSteps(b.Inside, states, now)
	}
}
