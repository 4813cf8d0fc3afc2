package procid

import "testing"

func TestMark(t *testing.T) {
	for _, c := range []struct {
		mark, run string
		want      bool
	}{
		{Mark("r", 1), "r", true},
		{Mark("r", 0), "r", true},
		{Mark("r", 12), "r", true},
		{Mark("r.1", 2), "r.1", true},
		{Mark("r.1", 2), "r", false},
		{Mark("rr", 1), "r", false},
		{Mark("r", 1), "rr", false},
		{Mark("r", 1), "r.1", false},
		{"r.", "r", false},
		{"r.-1", "r", false},
		{"r", "r", false},
		{"", "r", false},
		{"", "", false},
	} {
		if got := OfRun(c.mark, c.run); got != c.want {
			t.Errorf("%q of run %q: %t, want %t", c.mark, c.run, got, c.want)
		}
	}
	if Mark("r", 0) != Mark("r", 1) || Mark("r", 1) == Mark("r", 2) {
		t.Error(Mark("r", 0), Mark("r", 1), Mark("r", 2))
	}
}
