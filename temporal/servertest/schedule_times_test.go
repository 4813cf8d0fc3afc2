package servertest

import (
	"testing"
	"time"

	schedulepb "go.temporal.io/api/schedule/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/service/worker/scheduler"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flowrun/flowrun/internal/lang/cron"
	flowschedule "github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/temporal/internal/schedule"
)

// TestScheduleTimes: what flowrun turns into a Schedule of Temporal starts at the same times there, by the
// code of the server, in zones of all kinds and whenever their clocks change.
func TestScheduleTimes(t *testing.T) {
	zones := []string{"UTC", "Europe/Zurich", "Europe/Dublin", "America/New_York", "America/St_Johns", "America/Havana", "America/Santiago", "America/Asuncion",
		"Atlantic/Azores", "Africa/Cairo", "Africa/Casablanca", "Asia/Beirut", "Asia/Gaza", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", "Australia/Sydney", "Pacific/Auckland", "Pacific/Chatham", "Antarctica/Troll"}
	lines := []string{"* * * * *", "*/15 * * * *", "7 * * * *", "0 */2 * * *", "0 1-23/2 * * *", "30 */3 * * SUN", "0 12 * * SUN", "30 0 * * *", "0 0 * * *", "30 1 * * *", "30 2 * * *", "0 3 * * *", "15 4 * * MON",
		"0 12 * * FRI", "30 23 * * *", "0 7 * * 1-5", "30 0 12 * * *", "0 0 13 * FRI", "0 12 */2 * 1", "0 9 31 * *", "0 9 29 2 *", "0 4 L * *", "0 4 L-3 * *", "0 4 LW * *", "0 4 15W * *", "0 4 1W * *", "0 4 31W * *",
		"0 4 * * FRIL", "0 4 * * 5#3", "0 4 * * MON#1", "0 4 * 2 SUN#5", "0 4 L,10W,3 * MON#1,FRIL", "@every 90m", "@every 7h"}
	from := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	unlimited := func() int { return 0 }
	builder := scheduler.NewSpecBuilder(unlimited, unlimited)
	compared, refused := 0, 0
	for _, zone := range zones {
		for _, line := range lines {
			z, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			spec, err := cron.Parse(line, cron.Options{Zone: z})
			if err != nil {
				t.Fatal(err)
			}
			s := flowschedule.Schedule{Spec: spec.From(from.Add(11 * time.Minute))}
			timing, err := schedule.TimingOf(s, zone, from)
			if err != nil {
				refused++
				continue
			}
			theirs, err := builder.NewCompiledSpec(specOf(timing.Spec))
			if err != nil {
				t.Fatalf("%q in %s: %v", line, zone, err)
			}
			compared++
			// A week around each change of the clocks for three years, and the first 500 times.
			windows := [][2]time.Time{{from.Add(11 * time.Minute), from.AddDate(3, 0, 0)}}
			for at := from.In(z); at.Before(from.AddDate(3, 0, 0)); {
				_, change := at.ZoneBounds()
				if change.IsZero() {
					break
				}
				windows = append(windows, [2]time.Time{change.Add(-48 * time.Hour), change.Add(48 * time.Hour)})
				at = change.In(z)
			}
			for _, w := range windows {
				at := w[0]
				for range 500 {
					ours := s.Next(at)
					next, err := theirs.GetNextTime("", at)
					if err != nil {
						t.Fatal(err)
					}
					if !ours.Equal(next.Nominal) {
						t.Errorf("%q in %s after %v: flowrun %v, Temporal %v", line, zone, at.In(z), ours, next.Nominal.In(z))
						break
					}
					if at = ours; !at.Before(w[1]) {
						break
					}
				}
			}
		}
	}
	t.Logf("%d compared, %d refused", compared, refused)
	if compared < 2*refused {
		t.Errorf("%d of %d lines were refused", refused, compared+refused)
	}
}

// specOf returns the times as the SDK sends them.
func specOf(s client.ScheduleSpec) *schedulepb.ScheduleSpec {
	ranges := func(list []client.ScheduleRange) (out []*schedulepb.Range) {
		for _, r := range list {
			out = append(out, &schedulepb.Range{Start: int32(r.Start), End: int32(r.End), Step: int32(r.Step)})
		}
		return out
	}
	spec := &schedulepb.ScheduleSpec{TimezoneName: s.TimeZoneName}
	for _, c := range s.Calendars {
		spec.StructuredCalendar = append(spec.StructuredCalendar, &schedulepb.StructuredCalendarSpec{Second: ranges(c.Second), Minute: ranges(c.Minute), Hour: ranges(c.Hour),
			DayOfMonth: ranges(c.DayOfMonth), Month: ranges(c.Month), Year: ranges(c.Year), DayOfWeek: ranges(c.DayOfWeek)})
	}
	for _, i := range s.Intervals {
		spec.Interval = append(spec.Interval, &schedulepb.IntervalSpec{Interval: durationpb.New(i.Every), Phase: durationpb.New(i.Offset)})
	}
	return spec
}
