package schedule

import (
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/service/schedule"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func parse(t *testing.T, line, zone string) cron.Spec {
	t.Helper()
	z, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := cron.Parse(line, cron.Options{Zone: z})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// lines are lines of all forms.
var lines = []string{
	"0 7 * * 1-5", "*/15 * * * *", "0 */2 * * *", "30 1 * * *", "5,7,20-30/5 3-5 * * *", "* * * * *", "30 0 12 * * *", "*/20 * 4 * * *",
	"0 0 13 * FRI", "0 12 */2 * 1", "0 0 1,15 2 *", "0 9 31 * *", "0 9 29 2 *",
	"0 4 L * *", "0 4 L-3 * *", "0 4 L-30 * *", "0 4 LW * *", "0 4 15W * *", "0 4 1W * *", "0 4 31W * *", "0 4 30W * *", "0 4 28W 2 *", "0 4 L 2 *", "0 4 L 4,6 *",
	"0 4 * * FRIL", "0 4 * * 5#3", "0 4 * * MON#1", "0 4 * * SUN#5", "0 4 * 2 SUN#5", "0 4 L,10W,3 * MON#1,FRIL",
	"@hourly", "@daily", "@weekly", "@monthly", "@yearly",
}

// TestCalendars: calendars match exactly the times of a line, where no clocks change.
func TestCalendars(t *testing.T) {
	for _, line := range lines {
		spec := parse(t, line, "UTC")
		list := calendars(spec)
		// Years with every length of February, and the end of the calendars.
		for _, from := range []int{2027, 2028, 2029, 2096, 2100} {
			for at := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() == from; at = at.AddDate(0, 0, 1) {
				wanted := spec.Next(at.Add(-time.Second)).Before(at.AddDate(0, 0, 1))
				if got := matchesDay(list, at); got != wanted {
					t.Fatalf("%q on %s: %v, want %v\n%+v", line, at.Format(time.DateOnly), got, wanted, list)
				}
			}
		}
		// All seconds of a few hours of a day that matches.
		day := spec.Next(now)
		for at := day.Truncate(time.Hour); at.Before(day.Truncate(time.Hour).Add(3 * time.Hour)); at = at.Add(time.Second) {
			if got, wanted := matches(list, at), spec.Next(at.Add(-time.Second)).Equal(at); got != wanted {
				t.Fatalf("%q at %v: %v, want %v", line, at, got, wanted)
			}
		}
	}
}

// in reports whether ranges contain a value, as Temporal documents it.
func in(list []client.ScheduleRange, n int) bool {
	for _, r := range list {
		if n >= r.Start && n <= max(r.Start, r.End) && (n-r.Start)%max(1, r.Step) == 0 {
			return true
		}
	}
	return false
}

func matchesDay(list []client.ScheduleCalendarSpec, t time.Time) bool {
	for _, c := range list {
		if (c.Year == nil || in(c.Year, t.Year())) && in(c.Month, int(t.Month())) && in(c.DayOfMonth, t.Day()) && in(c.DayOfWeek, int(t.Weekday())) {
			return true
		}
	}
	return false
}

func matches(list []client.ScheduleCalendarSpec, t time.Time) bool {
	for _, c := range list {
		if matchesDay([]client.ScheduleCalendarSpec{c}, t) && in(c.Hour, t.Hour()) && in(c.Minute, t.Minute()) && in(c.Second, t.Second()) {
			return true
		}
	}
	return false
}

// TestTimingWhenClocksChange: a line that Temporal would start at other times is refused, and every
// other line starts at the same times, compared by a literal reading of the clock.
func TestTimingWhenClocksChange(t *testing.T) {
	zones := []string{"UTC", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "America/Havana", "Asia/Kolkata", "America/Santiago", "Atlantic/Azores"}
	refused := 0
	for _, zone := range zones {
		for _, line := range lines {
			spec := parse(t, line, zone)
			timing, err := TimingOf(schedule.Schedule{Spec: spec}, zone, now)
			if err != nil {
				refused++
				continue
			}
			theirs, err := time.LoadLocation(timing.Spec.TimeZoneName)
			if err != nil {
				t.Fatal(err)
			}
			for at := now.In(spec.Zone()); at.Year() <= 2028; {
				_, change := at.ZoneBounds()
				if change.IsZero() {
					break
				}
				for s := change.Add(-3 * time.Hour); s.Before(change.Add(3 * time.Hour)); s = s.Add(20 * time.Second) {
					if got, wanted := matches(timing.Spec.Calendars, s.In(theirs)), spec.Next(s.Add(-time.Second)).Equal(s); got != wanted {
						t.Fatalf("%q in %s at %v: %v, want %v", line, zone, s.In(spec.Zone()), got, wanted)
					}
				}
				at = change
			}
		}
	}
	if refused == 0 || refused > len(zones)*len(lines)/2 {
		t.Errorf("%d of %d were refused", refused, len(zones)*len(lines))
	}
}

func TestTimingRefuses(t *testing.T) {
	for _, c := range []struct {
		line, zone string
		s          schedule.Schedule
		want       string
	}{
		{"30 2 * * *", "Europe/Zurich", schedule.Schedule{}, "2027-03-28 02:30 in Europe/Zurich does not exist: Temporal would start nothing, and flowrun starts at 03:00"},
		{"30 1 * * *", "America/New_York", schedule.Schedule{}, "2027-11-07 01:30 in America/New_York occurs twice: Temporal would start twice"},
		{"0 2 * 3 *", "Australia/Lord_Howe", schedule.Schedule{}, ""},
		{"30 1 * * *", "Europe/Zurich", schedule.Schedule{}, "2027-10-31 01:30 in Europe/Zurich is near a change of the clocks"},
		{"0 */2 * * *", "Europe/Zurich", schedule.Schedule{}, "2027-10-31 02:00 in Europe/Zurich is near a change"},
		{"0 */2 * * *", "America/New_York", schedule.Schedule{}, ""},
		{"*/15 * * * *", "Europe/Zurich", schedule.Schedule{}, ""},
		{"*/15 * * * *", "Australia/Lord_Howe", schedule.Schedule{}, "in Australia/Lord_Howe is near a change"},
		{"15 2 * 10 *", "Australia/Lord_Howe", schedule.Schedule{}, "2027-10-03 02:15 in Australia/Lord_Howe is near a change of the clocks that Temporal does not follow exactly"},
		{"0 12 * * SUN", "America/Havana", schedule.Schedule{}, "2027-03-14 12:00 in America/Havana is near a change"},
		{"0 7 * * *", "Europe/Zurich", schedule.Schedule{SkipIfSuccessful: true}, "skip-if-successful"},
		{"0 7 * * *", "Europe/Zurich", schedule.Schedule{PauseAfter: 3}, "pause-after"},
		{"0 7 * * *", "Europe/Zurich", schedule.Schedule{Params: map[string]any{"DAY": "{schedule.date}"}}, "{schedule.date} cannot be replaced"},
		{"0 7 * * *", "Local", schedule.Schedule{}, "the time zone of this machine has no name"},
		{"0 7 * * *", "UTC", schedule.Schedule{Overlap: schedule.OverlapQueue}, "with overlap queue, Temporal would start several missed times"},
		{"0 7 * * *", "UTC", schedule.Schedule{Overlap: schedule.OverlapAllow}, "with overlap allow, Temporal would start several missed times"},
		{"0 7 * * *", "UTC", schedule.Schedule{CatchUp: schedule.CatchUpAll}, "with overlap skip, Temporal would not start each missed time"},
		{"0 7 * * *", "UTC", schedule.Schedule{CatchUp: schedule.CatchUpAll, Overlap: schedule.OverlapReplace}, "with overlap cancel-running"},
		{"0 7 * * *", "UTC", schedule.Schedule{CatchUp: schedule.CatchUpAll, Overlap: schedule.OverlapAllow}, "at most 100; set a window"},
		{"* * * * *", "UTC", schedule.Schedule{CatchUp: schedule.CatchUpAll, Overlap: schedule.OverlapAllow, Window: 2 * time.Hour}, "missed in 2h0m0s"},
		{"* * * * *", "UTC", schedule.Schedule{CatchUp: schedule.CatchUpAll, Overlap: schedule.OverlapAllow, Window: 2 * time.Hour, Cap: 121}, ""},
		{"* * * * *", "UTC", schedule.Schedule{CatchUp: schedule.CatchUpAll, Overlap: schedule.OverlapAllow, Window: 2 * time.Hour, Cap: 120}, "at most 120"},
		{"0 7 * * *", "UTC", schedule.Schedule{Window: time.Hour, Jitter: time.Minute}, "leave out jitter or the window"},
		{"0 7 * * *", "UTC", schedule.Schedule{Window: time.Second}, "shorter than 10s"},
		{"0 7 * * *", "UTC", schedule.Schedule{CatchUp: schedule.CatchUpNone, Overlap: schedule.OverlapQueue, Jitter: time.Minute}, ""},
		{"@every 15m", "UTC", schedule.Schedule{Jitter: time.Minute}, ""},
	} {
		c.s.Spec = parse(t, c.line, strings.Replace(c.zone, "Local", "UTC", 1))
		_, err := TimingOf(c.s, c.zone, now)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q %+v: %v; want %q", c.line, c.s, err, c.want)
		}
	}
}

func TestTiming(t *testing.T) {
	start := time.Date(2027, 1, 1, 10, 7, 0, 0, time.UTC)
	s := schedule.Schedule{Spec: parse(t, "@every 15m", "UTC").From(start), Start: start, End: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC), Overlap: schedule.OverlapReplace, Window: time.Hour}
	timing, err := TimingOf(s, "UTC", now)
	if err != nil {
		t.Fatal(err)
	}
	if got := timing.Spec.Intervals; len(got) != 1 || got[0] != (client.ScheduleIntervalSpec{Every: 15 * time.Minute, Offset: 7 * time.Minute}) {
		t.Errorf("intervals: %+v", got)
	}
	if !timing.Spec.StartAt.Equal(start) || !timing.Spec.EndAt.Equal(s.End.Add(-time.Second)) {
		t.Errorf("from %v to %v", timing.Spec.StartAt, timing.Spec.EndAt)
	}
	if timing.Overlap != enumspb.SCHEDULE_OVERLAP_POLICY_CANCEL_OTHER || timing.CatchUpWindow != time.Hour {
		t.Errorf("%v, %v", timing.Overlap, timing.CatchUpWindow)
	}
	timing, err = TimingOf(schedule.Schedule{Spec: parse(t, "0 7 * * 1-5", "Europe/Zurich"), CatchUp: schedule.CatchUpNone}, "Europe/Zurich", now)
	if err != nil || timing.Spec.TimeZoneName != "Europe/Zurich" || timing.CatchUpWindow != 10*time.Second || timing.Overlap != enumspb.SCHEDULE_OVERLAP_POLICY_SKIP {
		t.Errorf("%+v, %v", timing, err)
	}
	if got := len(timing.Spec.Calendars); got != 1 {
		t.Errorf("%d calendars", got)
	}
}
