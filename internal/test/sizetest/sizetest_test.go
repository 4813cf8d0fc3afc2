package sizetest

import "testing"

func TestSizes(t *testing.T) {
	for word, want := range map[string]int{"": 1, "gate": 2, "long": 3} {
		t.Setenv(variable, word)
		if got := Of(1, 2, 3); got != want {
			t.Errorf("%q: %d, want %d", word, got, want)
		}
		ran := t.Run("needs the gate", func(t *testing.T) {
			Need(t, Gate, "takes a minute")
			if want == 1 {
				t.Error("it runs in the smallest size")
			}
		})
		if !ran {
			t.Errorf("%q", word)
		}
	}
}

func TestUnknownSize(t *testing.T) {
	t.Setenv(variable, "lnog")
	defer func() {
		if recover() == nil {
			t.Error("a misspelt size is taken for one")
		}
	}()
	Chosen()
}

func TestSeed(t *testing.T) {
	t.Setenv("FLOWRUN_TEST_SEED", "")
	t.Setenv(variable, "gate")
	if a, b := Seed(t), Seed(t); a != b {
		t.Errorf("the gate has the seeds %d and %d", a, b)
	}
	t.Setenv("FLOWRUN_TEST_SEED", "77")
	if got := Seed(t); got != 77 {
		t.Errorf("seed %d, want the one of the environment", got)
	}
}
