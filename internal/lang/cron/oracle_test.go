package cron

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/adhocore/gronx"
	robfig "github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
)

// Two independent libraries check Next on days without clock changes. Lines on which they differ by design are not
// drawn; TestOracleDifferences lists each difference with its reason.

// oracle is Next of another library.
type oracle struct {
	name  string
	knows func(line string) bool
	next  func(line string, after time.Time) (time.Time, error)
}

var oracles = []oracle{
	{"robfig/cron", func(line string) bool {
		fields := strings.Fields(line)
		return !strings.ContainsAny(fields[3]+fields[5], "LW#7")
	}, robfigNext},
	{"gronx", func(line string) bool {
		fields := strings.Fields(line)
		month, week := fields[3], fields[5]
		bothDays := !strings.ContainsAny(month[:1]+week[:1], "*?") || strings.Contains(month, "*/") || strings.HasPrefix(week, "*/")
		return !strings.Contains(month, "L-") && !strings.Contains(month, "LW") && (!bothDays || !strings.Contains(month+week, "*/"))
	}, gronxNext},
}

func robfigNext(line string, after time.Time) (time.Time, error) {
	s, err := robfig.NewParser(robfig.Second | robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow).Parse(line)
	if err != nil {
		return time.Time{}, err
	}
	return s.Next(after), nil
}

func gronxNext(line string, after time.Time) (time.Time, error) {
	return gronx.NextTickAfter(line, after, false)
}

// drawField returns a random field of a line: values, ranges, steps and lists.
func drawField(t *rapid.T, f field, special []string) string {
	value := rapid.IntRange(f.low, f.high)
	item := rapid.Custom(func(t *rapid.T) string {
		a, b := value.Draw(t, "a"), value.Draw(t, "b")
		n := rapid.IntRange(1, f.size()).Draw(t, "n")
		switch rapid.IntRange(0, 6).Draw(t, "form") {
		case 0:
			return fmt.Sprintf("%d-%d", min(a, b), max(a, b))
		case 1:
			return fmt.Sprintf("%d-%d/%d", min(a, b), max(a, b), n)
		case 2:
			return fmt.Sprintf("%d/%d", a, n)
		case 3:
			if len(special) > 0 {
				return rapid.SampledFrom(special).Draw(t, "special")
			}
		case 4:
			if f.names != nil {
				return f.valueText(max(f.low, a%7))
			}
		}
		return fmt.Sprint(a)
	})
	switch rapid.IntRange(0, 3).Draw(t, "shape") {
	case 0:
		return "*"
	case 1:
		return fmt.Sprintf("*/%d", rapid.IntRange(2, f.size()).Draw(t, "step"))
	}
	return strings.Join(rapid.SliceOfN(item, 1, 3).Draw(t, "items"), ",")
}

func drawLine(t *rapid.T) string {
	special := [6][]string{3: {"L", "L-2", "L-27", "LW", "1W", "15W", "30W", "31W"}, 5: {"FRIL", "0L", "7L", "FRI#3", "1#1", "SAT#5"}}
	fields := make([]string, 6)
	for i, f := range fieldTable {
		fields[i] = drawField(t, f, special[i])
	}
	return strings.Join(fields, " ")
}

// quiet reports whether the clocks of the zone do not change within a day and some hours.
func quiet(at time.Time) bool {
	start, end := at.ZoneBounds()
	return (start.IsZero() || at.Sub(start) > 27*time.Hour) && (end.IsZero() || end.Sub(at) > 27*time.Hour)
}

// midnightMissing reports whether a day between two times, which may be years apart, begins at another hour than 0.
func midnightMissing(from, to time.Time) bool {
	for day := from; day.Before(to.Add(24 * time.Hour)); day = day.AddDate(0, 0, 1) {
		if time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, from.Location()).Hour() != 0 {
			return true
		}
	}
	return false
}

func TestOracles(t *testing.T) {
	for _, o := range oracles {
		t.Run(o.name, func(t *testing.T) {
			compared := 0
			proptest.Check(t, func(t *rapid.T) {
				line := drawLine(t)
				z, err := LoadZone(rapid.SampledFrom(zones).Draw(t, "zone"))
				if err != nil {
					t.Fatal(err)
				}
				s, err := Parse(line, Options{Zone: z})
				if err != nil || !o.knows(line) {
					return
				}
				after := time.Unix(rapid.Int64Range(978307200, 2240000000).Draw(t, "after"), 0).In(z) // 2001 to 2040
				for range 5 {
					got := s.Next(after)
					if !quiet(after) || !quiet(got) || got.Sub(after) > 4*365*24*time.Hour {
						after = got
						continue // the library has its own rules for clock changes, and its own limit of years
					}
					want, err := o.next(line, after)
					if err != nil {
						return // the library found none
					}
					if !got.Equal(want) && midnightMissing(after, want) {
						after = got
						continue // the library counts on from the hour that came instead
					}
					if !got.Equal(want) {
						t.Fatalf("%s after %s: %s, but %s says %s", line, after, got, o.name, want)
					}
					compared++
					after = got
				}
			})
			if compared == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

// TestOracleDifferences lists where the libraries differ from the rules of this package, with the reasons for the rules.
func TestOracleDifferences(t *testing.T) {
	for _, c := range []struct {
		why, line, zone, after string
		ours, robfig, gronx    string // "" means not compared, "error" means rejected
	}{
		{"a skipped local time is lost in robfig: the nightly job does not run on that day",
			"0 30 2 * * *", "Europe/Zurich", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00", ""},
		{"a repeated local time fires twice in robfig: it sees the second pass as new",
			"0 30 2 * * *", "Europe/Zurich", "2026-10-25T00:30:00Z", "2026-10-26T02:30:00+01:00", "2026-10-25T02:30:00+01:00", ""},
		{"*/2 restricts the days, so either field matches; gronx, like the oldest crons, takes any star for no restriction and asks for both",
			"0 0 0 */2 * MON", "UTC", "2026-06-01T00:00:00Z", "2026-06-03T00:00:00Z", "2026-06-03T00:00:00Z", "2026-06-15T00:00:00Z"},
		{"7 is Sunday, as in every crontab; robfig refuses it",
			"0 0 0 * * 7", "UTC", "2026-06-01T00:00:00Z", "2026-06-07T00:00:00Z", "error", "2026-06-07T00:00:00Z"},
		{"L-n counts back from the last day; neither knows it",
			"0 0 0 L-2 * *", "UTC", "2026-06-01T00:00:00Z", "2026-06-28T00:00:00Z", "error", "error"},
		{"SUN ends a week, so SAT-SUN is the weekend; for the others it begins one only",
			"0 0 0 * * SAT-SUN", "UTC", "2026-06-01T00:00:00Z", "2026-06-06T00:00:00Z", "error", "error"},
		{"a leap day eight years away is found; robfig looks five years ahead and answers with no time",
			"0 0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z", "0001-01-01T00:00:00Z", ""},
		{"what never comes is refused when it is read; robfig accepts it and never fires",
			"0 0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", "error", "0001-01-01T00:00:00Z", ""},
		{"a step longer than its field would silently match its first value alone; robfig takes it",
			"0 */90 * * * *", "UTC", "2026-01-01T00:00:00Z", "error", "2026-01-01T01:00:00Z", ""},
	} {
		z, err := LoadZone(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		after, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		ours := func(line string, after time.Time) (time.Time, error) {
			s, err := Parse(line, Options{Zone: z})
			return s.Next(after), err
		}
		check := func(who, want string, next func(string, time.Time) (time.Time, error)) {
			got := "error"
			if at, err := next(c.line, after.In(z)); err == nil {
				got = at.Format(time.RFC3339)
			}
			if want != "" && got != want {
				t.Errorf("%s\n%s after %s: %s says %s, want %s", c.why, c.line, c.after, who, got, want)
			}
		}
		check("flowrun", c.ours, ours)
		check("robfig", c.robfig, robfigNext)
		check("gronx", c.gronx, gronxNext)
	}
}

// TestTurnedClocks compares Next with nextSlowly around every kind of clock change.
func TestTurnedClocks(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		z, err := LoadZone(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(drawLine(t), Options{Zone: z})
		if err != nil {
			return
		}
		turned := time.Unix(rapid.Int64Range(0, 2240000000).Draw(t, "near"), 0).In(z)
		if _, end := turned.ZoneBounds(); !end.IsZero() {
			turned = end
		}
		from := turned.Add(time.Duration(rapid.Int64Range(-4*3600, 2*3600).Draw(t, "from")) * time.Second)
		got, want := s.Next(from), nextSlowly(s, from, 3*time.Hour)
		if got.Sub(from) > 3*time.Hour {
			got = time.Time{}
		}
		if !got.Equal(want) {
			t.Fatalf("%s after %s: %s, slowly %s", s, from, got, want)
		}
	})
}
