package duration_test

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/duration"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "1h30m": 90 * time.Minute, "-5m": -5 * time.Minute, "0": 0, "1.5h": 90 * time.Minute, "+1s": time.Second,
		"1d": 24 * time.Hour, "2w": 336 * time.Hour, "2w1d": 360 * time.Hour, "1d12h": 36 * time.Hour, "1w2d3h4ms": 219*time.Hour + 4*time.Millisecond,
	} {
		if got, err := duration.Parse(in); err != nil || got != want {
			t.Errorf("%q: %v %v", in, got, err)
		}
	}
	for _, in := range []string{"", "x", "d", "w", "1d2w", "1.5d", "-1d", "1d-1h", "1d+1h", "1d 2h", "1dd", "99999d", "65535w", "15250w65535h", "3", "5 minutes", "1D"} {
		if got, err := duration.Parse(in); err == nil {
			t.Errorf("%q: %v", in, got)
		}
	}
}

func TestText(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 90 * time.Second: "1m30s", 10 * time.Minute: "10m", 2 * time.Hour: "2h", time.Hour + time.Second: "1h0m1s"} {
		if got := duration.Text(d); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
}
