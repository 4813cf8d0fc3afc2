package schedules

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/schedule"
)

// entry is a schedule in UTC. except are days without times.
func entry(t *testing.T, title, line, except string) named {
	t.Helper()
	spec, err := cron.Parse(line, cron.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	var days cron.Days
	if except != "" {
		if days, err = cron.ParseDays(except); err != nil {
			t.Fatal(err)
		}
	}
	return named{schedule.Schedule{Name: title, Spec: spec, Except: days}, title}
}

// TestUpcoming: the times of several schedules are in order, those that except leaves out are one line that does not count.
func TestUpcoming(t *testing.T) {
	morning, noon := entry(t, "morning", "0 7 * * *", ""), entry(t, "noon", "0 12 * * *", "")
	holidays := entry(t, "holidays", "0 7 * * *", "2026-12-24..2026-12-27")
	ends := entry(t, "ends", "0 7 * * *", "")
	ends.End = time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC)
	allLeftOut := entry(t, "gone", "0 7 * * *", "2026-12-22..2026-12-31")
	allLeftOut.End = time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		schedules []named
		n         int
		want      []string
	}{
		"one":          {[]named{morning}, 2, []string{"morning 12-22T07", "morning 12-23T07"}},
		"two in order": {[]named{noon, morning}, 3, []string{"morning 12-22T07", "noon 12-22T12", "morning 12-23T07"}},
		"left out":     {[]named{holidays}, 3, []string{"holidays 12-22T07", "holidays 12-23T07", "holidays 12-24T07 (4)", "holidays 12-28T07"}},
		"one left out between those of another": {[]named{holidays, noon}, 5,
			[]string{"holidays 12-22T07", "noon 12-22T12", "holidays 12-23T07", "noon 12-23T12", "holidays 12-24T07 (4)", "noon 12-24T12"}},
		"ends":         {[]named{ends}, 5, []string{"ends 12-22T07", "ends 12-23T07"}},
		"nothing left": {[]named{allLeftOut}, 5, []string{"gone 12-22T07 (2)"}},
	} {
		var got []string
		for _, at := range upcoming(c.schedules, time.Date(2026, 12, 22, 0, 0, 0, 0, time.UTC), c.n) {
			text := at.Schedule + " " + at.At.Format("01-02T15")
			if at.Excepted > 0 {
				text += fmt.Sprintf(" (%d)", at.Excepted)
			}
			got = append(got, text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestLeftOutNote names the days that except leaves out.
func TestLeftOutNote(t *testing.T) {
	day := func(d, hour int) time.Time { return time.Date(2026, 12, d, hour, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		first, last time.Time
		n           int
		want        string
	}{
		{day(24, 7), day(24, 7), 1, "does not run: except has 2026-12-24"},
		{day(24, 7), day(24, 8), 2, "2 times do not run: except has 2026-12-24"},
		{day(24, 7), day(27, 7), 4, "4 times from 2026-12-24 to 2026-12-27 do not run: except has these days"},
	} {
		if got := leftOutNote(c.first, c.last, c.n); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestListedTimes: what schedule list says of the next and the last time.
func TestListedTimes(t *testing.T) {
	now := time.Date(2026, 12, 22, 6, 0, 0, 0, time.UTC)
	next := now.Add(time.Hour)
	for name, c := range map[string]struct {
		s          scheduleJSON
		next, last string
	}{
		"fires":            {scheduleJSON{Next: &next}, "07:00:00 (in 1h)", ""},
		"over":             {scheduleJSON{}, "over", ""},
		"event":            {scheduleJSON{Schedule: service.Schedule{On: "file"}}, "", ""},
		"paused":           {scheduleJSON{Schedule: service.Schedule{Paused: true}}, "paused", ""},
		"paused by itself": {scheduleJSON{Schedule: service.Schedule{Paused: true, PauseReason: "3 failures"}}, "paused: 3 failures", ""},
		"paused, no tool":  {scheduleJSON{Schedule: service.Schedule{Paused: true, ToolMissing: true}}, "tool missing", ""},
		"ran":              {scheduleJSON{Schedule: service.Schedule{Last: &service.Firing{Run: "a1", Status: "succeeded"}}}, "over", "succeeded"},
		"ran with notes":   {scheduleJSON{Schedule: service.Schedule{Last: &service.Firing{Run: "a1", Status: "succeeded", Notes: []string{"x", "y"}}}}, "over", "succeeded (x, y)"},
		"late":             {scheduleJSON{Schedule: service.Schedule{Last: &service.Firing{Run: "a1", Status: "running", Late: true}}}, "over", "late, running"},
		"skipped":          {scheduleJSON{Schedule: service.Schedule{Last: &service.Firing{Status: "skipped", Reason: "overlap"}}}, "over", "skipped: overlap"},
	} {
		if got := c.s.nextText(now); got != c.next {
			t.Errorf("%s: next %q, want %q", name, got, c.next)
		}
		if got := c.s.lastText(); got != c.last {
			t.Errorf("%s: last %q, want %q", name, got, c.last)
		}
	}
}
