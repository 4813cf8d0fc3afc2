package enginetest

import (
	"slices"
	"testing"
)

// TestPlanOrder: a step that another one names moves before it.
func TestPlanOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"wait-for of a later step":   {"steps: [{name: a, run: echo, wait-for: [c]}, {name: b, run: echo}, {name: c, run: echo}]", []string{"c", "a", "b"}},
		"mention of a later step":    {"steps: [{name: a, run: 'echo {c.output}'}, {name: b, run: echo}, {name: c, run: echo}]", []string{"c", "a", "b"}},
		"as they stand":              {"steps: [{name: a, run: echo}, {name: b, run: echo, wait-for: a}]", []string{"a", "b"}},
		"handlers come after theirs": {"steps: [{name: a, run: echo, wait-for: [b]}, {name: b, run: echo, finally: [{name: h2, run: echo, wait-for: [h1]}, {name: h1, run: echo}]}]", []string{"b", "h1", "h2", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := newBed(t).compile(c.text).Steps(); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
