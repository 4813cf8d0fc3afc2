package past

import (
	"testing"

	"github.com/flowrun/flowrun/internal/observe/runstats"
)

// TestTrend holds which changes of the newest runs are mentioned.
func TestTrend(t *testing.T) {
	part := func(rate float64, p50 int64) *runstats.Part { return &runstats.Part{Runs: 4, Rate: rate, P50: p50} }
	for _, c := range []struct {
		before, now *runstats.Part
		want        string
	}{
		{nil, part(1, 100), ""},
		{part(1, 100), nil, ""},
		{part(1, 100), part(1, 100), ""},
		{part(0.9999, 100), part(1, 100), ""}, // the same as it is shown
		{part(1, 100), part(0.5, 100), "success 100.0 % -> 50.0 %"},
		{part(1, 10), part(1, 110), ""},
		{part(1, 10), part(1, 111), "P50 10ms -> 111ms"},
		{part(1, 4000), part(1, 5000), ""},
		{part(1, 4000), part(1, 5004), "P50 4.0s -> 5.0s"},
		{part(1, 4000), part(0.25, 1000), "success 100.0 % -> 25.0 %, P50 4.0s -> 1.0s"},
	} {
		if got := trend(c.before, c.now); got != c.want {
			t.Errorf("%+v, %+v: %q, want %q", c.before, c.now, got, c.want)
		}
	}
}

// TestFlaky holds how retries are shown.
func TestFlaky(t *testing.T) {
	for _, c := range []struct {
		tally    runstats.Tally
		attempts string
		flaky    string
	}{
		{runstats.Tally{Runs: 4, Attempts: 4, MaxAttempts: 1}, "", ""},
		{runstats.Tally{Runs: 26, Attempts: 34, MaxAttempts: 3, Flaky: 6, FlakyRate: 6. / 26}, "1.3", "6 (23 %)"},
		{runstats.Tally{Runs: 4, Flaky: 4, FlakyRate: 1}, "", "4 (100 %)"}, // of whole runs
	} {
		if a, f := attempts(&c.tally), flaky(&c.tally); a != c.attempts || f != c.flaky {
			t.Errorf("%+v: %q %q", c.tally, a, f)
		}
	}
}
