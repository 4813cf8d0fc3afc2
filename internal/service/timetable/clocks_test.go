package timetable

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/service/schedule"
)

// TestBeforeLast checks which time is the one before the last, for schedules of seconds to years, and that times before the
// schedule was first seen do not count.
func TestBeforeLast(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 30, 0, time.UTC)
	for _, c := range []struct{ cron, since, want string }{
		{"* * * * * *", "2020-01-01T00:00:00Z", "2026-03-10T12:00:29Z"},
		{"* * * * *", "2020-01-01T00:00:00Z", "2026-03-10T11:59:00Z"},
		{"0 3 * * *", "2020-01-01T00:00:00Z", "2026-03-09T03:00:00Z"},
		{"0 3 1 1 *", "2020-01-01T00:00:00Z", "2025-01-01T03:00:00Z"},
		{"0 3 * * *", "2026-03-10T00:00:00Z", ""}, // one time has passed
		{"0 3 * * *", "2026-03-10T12:00:00Z", ""},
		{"0 3 * * *", "2026-03-09T02:00:00Z", "2026-03-09T03:00:00Z"},
	} {
		spec, err := cron.Parse(c.cron, cron.Options{Zone: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		since, err := time.Parse(time.RFC3339, c.since)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if at := beforeLast(schedule.Schedule{Spec: spec}, since, now); !at.IsZero() {
			got = at.Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s since %s: %q, want %q", c.cron, c.since, got, c.want)
		}
	}
}
