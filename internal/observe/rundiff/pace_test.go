package rundiff

import "testing"

// TestPace holds which durations have changed notably.
func TestPace(t *testing.T) {
	for _, c := range []struct {
		before, after int64
		want          bool
	}{{0, 1000, false}, {0, 1001, true}, {1, 1002, true}, {1000, 2000, false}, {1000, 2001, true}, {2001, 1000, true}, {900, 1900, false}, {60_000, 100_000, false}, {0, 0, false}} {
		s := Step{Before: &StepState{Duration: c.before}, After: &StepState{Duration: c.after}}
		if s.paceChanged() != c.want || s.differs() != c.want {
			t.Errorf("%d to %d: %t", c.before, c.after, s.paceChanged())
		}
	}
	if s := (Step{After: &StepState{Duration: 5000}}); s.paceChanged() || !s.differs() {
		t.Error("a new step has no earlier pace, and is notable")
	}
}
