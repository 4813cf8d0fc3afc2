package schedule

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/flowrun/flowrun/internal/lang/cron"
)

// The cases: a schedule, when its service begins (in UTC), what happens, and what results from
// it.
//
// What happens is a list of: "run 3h" (the service works), "down 3h" (there is none),
// "jump -1h" (somebody sets the clock), "takes 90m" (runs begun from now on), "pause",
// "resume", "success" (somebody runs the tool by hand, and it succeeds), "rival" (from
// now on another service is quicker), "except 2026-06-02" (a day without times is added), "line 15 * * * *" (the line is changed), "edit ..." (it is, and the service does not
// see it before it starts anew).
//
// What results from it is a list of slots by their local time, with the offset where it is
// not UTC: "28 02:30+01" started on time; "28 02:30+01 at 04:31" started late; "queue",
// "cancel", "skip" and "taken" before a slot are what else can happen to it; "miss 3"
// slots were too late; "jump" the clock was set.
var cases = []struct {
	name, line string
	s          Schedule
	begin      string
	happens    string
	want       string
}{
	// Daylight saving time, both ways, in three zones, and stranger clocks.
	{"Zurich spring: a skipped time at the first valid instant", "TZ=Europe/Zurich 30 2 * * *", Schedule{},
		"2026-03-27T12:00:00Z", "run 72h", "28 02:30+01, 29 03:00+02, 30 02:30+02"},
	{"Zurich spring: quarters of a skipped hour are one firing", "TZ=Europe/Zurich */15 2 * * *", Schedule{},
		"2026-03-29T00:00:00Z", "run 5h", "29 03:00+02"},
	{"Zurich spring: every hour adds nothing", "TZ=Europe/Zurich 0 * * * *", Schedule{},
		"2026-03-28T23:30:00Z", "run 3h", "29 01:00+01, 29 03:00+02, 29 04:00+02"},
	{"Zurich spring: a skipped time is made up for", "TZ=Europe/Zurich 30 2 * * *", Schedule{},
		"2026-03-29T00:30:00Z", "run 1m, down 2h, run 1h", "29 03:00+02 at 04:31"},
	{"Zurich autumn: a repeated time once", "TZ=Europe/Zurich 30 2 * * *", Schedule{},
		"2026-10-24T12:00:00Z", "run 48h", "25 02:30+02, 26 02:30+01"},
	{"Zurich autumn: every hour follows real time", "TZ=Europe/Zurich 0 * * * *", Schedule{},
		"2026-10-24T23:30:00Z", "run 3h", "25 02:00+02, 25 02:00+01, 25 03:00+01"},
	{"Zurich autumn: restarted in the second pass", "TZ=Europe/Zurich 30 2 * * *", Schedule{},
		"2026-10-25T00:00:00Z", "run 40m, down 25m, run 4h", "25 02:30+02"},
	{"New York spring", "TZ=America/New_York 15 2 * * *", Schedule{},
		"2026-03-07T05:00:00Z", "run 54h", "07 02:15-05, 08 03:00-04, 09 02:15-04"},
	{"New York autumn", "TZ=America/New_York 15 1 * * *", Schedule{},
		"2026-11-01T04:00:00Z", "run 30h", "01 01:15-04, 02 01:15-05"},
	{"New York autumn: every 30 minutes", "TZ=America/New_York */30 * * * *", Schedule{},
		"2026-11-01T05:15:00Z", "run 2h", "01 01:30-04, 01 01:00-05, 01 01:30-05, 01 02:00-05"},
	{"Lord Howe spring: half an hour is skipped", "TZ=Australia/Lord_Howe 15 2 * * *", Schedule{},
		"2026-10-03T12:00:00Z", "run 30h", "04 02:30+11, 05 02:15+11"},
	{"Lord Howe autumn: half an hour is repeated", "TZ=Australia/Lord_Howe 45 1 * * *", Schedule{},
		"2026-04-04T12:00:00Z", "run 30h", "05 01:45+11, 06 01:45+10:30"},
	{"Sao Paulo: midnight does not exist", "TZ=America/Sao_Paulo @daily", Schedule{},
		"2018-11-03T12:00:00Z", "run 48h", "04 01:00-02, 05 00:00-02"},
	{"Apia: a day does not exist", "TZ=Pacific/Apia 0 7 * * *", Schedule{},
		"2011-12-29T12:00:00Z", "run 31h", "29 07:00-10, 31 00:00+14, 31 07:00+14"},
	{"@every knows no clock on the wall", "TZ=Europe/Zurich @every 40m", Schedule{},
		"2026-03-29T00:10:00Z", "run 2h30m", "29 01:50+01, 29 03:30+02, 29 04:10+02"},

	// The calendar.
	{"leap day", "0 7 29 2 *", Schedule{}, "2028-02-28T00:00:00Z", "run 72h", "29 07:00"},
	{"no leap day", "0 7 29 2 *", Schedule{}, "2027-02-27T00:00:00Z", "run 96h", ""},
	{"a leap day is made up for", "0 7 29 2 *", Schedule{}, "2027-06-01T00:00:00Z", "run 1h, down 9000h, run 1h", "29 07:00 at 01:00"},
	{"last day of the month", "0 7 L * *", Schedule{}, "2026-02-27T00:00:00Z", "run 72h", "28 07:00"},
	{"the 13th, or a Friday", "0 7 13 * FRI", Schedule{}, "2026-06-11T00:00:00Z", "run 72h", "12 07:00, 13 07:00"},
	{"seconds", "*/20 * * * * *", Schedule{}, "2026-06-01T00:00:10Z", "run 45s", "01 00:00:20, 01 00:00:40"},

	// Slots that nobody kept.
	{"missed, by default", "0 * * * *", Schedule{}, "2026-06-01T00:30:00Z", "run 1h, down 4h, run 1h", "01 01:00, miss 3, 01 05:00 at 05:30, 01 06:00"},
	{"missed, none made up for", "0 * * * *", Schedule{CatchUp: CatchUpNone}, "2026-06-01T00:30:00Z", "run 1h, down 4h, run 1h", "01 01:00, miss 4, 01 06:00"},
	{"missed, all made up for", "0 * * * *", Schedule{CatchUp: CatchUpAll, Overlap: OverlapAllow}, "2026-06-01T00:30:00Z", "run 1h, down 3h, run 1h",
		"01 01:00, 01 02:00 at 04:30, 01 03:00 at 04:30, 01 04:00 at 04:30, 01 05:00"},
	{"missed, all, with a cap", "0 * * * *", Schedule{CatchUp: CatchUpAll, Cap: 2}, "2026-06-01T00:30:00Z", "run 1h, down 4h, run 1m", "01 01:00, miss 2, 01 04:00 at 05:30, 01 05:00 at 05:30"},
	{"missed, all, with a window", "0 * * * *", Schedule{CatchUp: CatchUpAll, Window: time.Hour}, "2026-06-01T00:30:00Z", "run 1h, down 4h, run 1m", "01 01:00, miss 3, 01 05:00 at 05:30"},
	{"missed, once, with a window", "0 * * * *", Schedule{Window: 20 * time.Minute}, "2026-06-01T00:30:00Z", "run 1h, down 4h, run 1m", "01 01:00, miss 4"},
	{"missed, all, and runs take long: they wait for each other", "0 * * * *", Schedule{CatchUp: CatchUpAll}, "2026-06-01T00:30:00Z", "run 1h, takes 7m, down 3h, run 20m",
		"01 01:00, 01 02:00 at 04:30, queue 01 03:00, queue 01 04:00, 01 03:00 at 04:37, 01 04:00 at 04:44"},
	{"a slot that is on time makes up for late ones", "0 * * * *", Schedule{}, "2026-06-01T00:59:00Z", "run 30s, down 4h33s, run 1m", "miss 4, 01 05:00"},
	{"seconds late is on time", "0 * * * *", Schedule{CatchUp: CatchUpNone}, "2026-06-01T00:59:50Z", "run 5s, down 10s, run 1m", "01 01:00"},
	{"half a minute is late", "0 * * * *", Schedule{CatchUp: CatchUpNone}, "2026-06-01T00:59:50Z", "run 5s, down 40s, run 1m", "miss 1"},
	{"nothing before the first service is made up for", "0 * * * *", Schedule{CatchUp: CatchUpAll}, "2026-06-01T05:30:00Z", "run 1h", "01 06:00"},
	{"two years of seconds", "* * * * * *", Schedule{}, "2026-06-01T00:00:00Z", "run 100ms, down 17520h, run 100ms", "miss 9990, 30 23:59:51, 30 23:59:52, 30 23:59:53, 30 23:59:54, 30 23:59:55, 30 23:59:56, 30 23:59:57, 30 23:59:58, 30 23:59:59, 31 00:00:00"},

	// Clocks that jump.
	{"forward is as if no service had been there", "0 * * * *", Schedule{}, "2026-06-01T00:30:01Z", "run 1h, jump 3h, run 1h", "01 01:00, jump, miss 2, 01 04:00 at 04:31, 01 05:00"},
	{"forward, none made up for", "0 * * * *", Schedule{CatchUp: CatchUpNone}, "2026-06-01T00:30:01Z", "run 1h, jump 3h, run 1h", "01 01:00, jump, miss 3, 01 05:00"},
	{"back: nothing fires twice", "0 * * * *", Schedule{}, "2026-06-01T00:30:01Z", "run 2h, jump -1h, run 2h", "01 01:00, 01 02:00, jump, taken 01 02:00, 01 03:00"},
	{"there and back: only what is on record as missed stays so", "0 * * * *", Schedule{}, "2026-06-01T00:30:01Z", "run 1h, jump 3h, run 2m, jump -3h, run 4h",
		"01 01:00, jump, miss 2, 01 04:00 at 04:31, jump, 01 02:00, taken 01 03:00, taken 01 04:00, 01 05:00"},
	{"years ahead and back", "0 * * * *", Schedule{CatchUp: CatchUpNone}, "2026-06-01T00:30:01Z", "run 1h, jump 40000h, run 2m, jump -40000h, run 1h", "01 01:00, jump, miss 10000, jump, 01 02:00"},
	{"set while no service was there", "0 * * * *", Schedule{}, "2026-06-01T00:30:01Z", "run 2h, down -1h, run 2h", "01 01:00, 01 02:00, taken 01 02:00, 01 03:00"},

	// Runs that overlap.
	{"overlap skip", "*/30 * * * *", Schedule{}, "2026-06-01T00:15:00Z", "takes 45m, run 2h", "01 00:30, skip 01 01:00, 01 01:30, skip 01 02:00"},
	{"overlap queue", "*/30 * * * *", Schedule{Overlap: OverlapQueue}, "2026-06-01T00:15:00Z", "takes 50m, run 2h",
		"01 00:30, queue 01 01:00, 01 01:00 at 01:20, queue 01 01:30, skip 01 02:00, 01 01:30 at 02:10"},
	{"overlap cancel-running", "*/30 * * * *", Schedule{Overlap: OverlapReplace}, "2026-06-01T00:15:00Z", "takes 45m, run 1h30m", "01 00:30, cancel 01 01:00, cancel 01 01:30"},
	{"overlap allow", "*/30 * * * *", Schedule{Overlap: OverlapAllow}, "2026-06-01T00:15:00Z", "takes 45m, run 1h30m", "01 00:30, 01 01:00, 01 01:30"},
	{"overlap skip: a missed time is skipped while a run of the service before is active", "0 * * * *", Schedule{}, "2026-06-01T00:30:00Z", "takes 10h, run 1h, down 2h, run 1h",
		"01 01:00, miss 1, skip 01 03:00, skip 01 04:00"},
	{"overlap skip: one run for many restarts", "*/20 * * * * *", Schedule{}, "2026-06-01T00:00:10Z", "takes 90s, run 12s, down 25s, run 1s, down 40s, run 10s, down 25s, run 5s",
		"01 00:00:20, skip 01 00:00:40, miss 1, skip 01 00:01:20, miss 1, skip 01 00:02:00"},
	{"overlap skip: all missed times are skipped while an earlier run is active", "0 * * * *", Schedule{CatchUp: CatchUpAll}, "2026-06-01T00:30:00Z", "takes 10h, run 1h, down 2h, run 1m",
		"01 01:00, skip 01 02:00, skip 01 03:00"},
	{"overlap queue: one missed time waits, not a second", "0 * * * *", Schedule{Overlap: OverlapQueue}, "2026-06-01T00:30:00Z", "takes 10h, run 1h, down 2h, run 1m, down 2h, run 1m",
		"01 01:00, miss 1, queue 01 03:00, miss 1, skip 01 05:00, 01 03:00 at 15:00"},
	{"no overlap", "*/30 * * * *", Schedule{}, "2026-06-01T00:15:00Z", "takes 29m, run 1h30m", "01 00:30, 01 01:00, 01 01:30"},

	// Days without times.
	{"except: not fired, not missed", "0 7 * * *", Schedule{Except: days("2026-06-02..2026-06-03")}, "2026-06-01T00:00:00Z", "run 96h", "01 07:00, 04 07:00"},
	{"except: nothing is caught up", "0 7 * * *", Schedule{Except: days("2026-06-02..2026-06-03"), CatchUp: CatchUpAll}, "2026-06-01T00:00:00Z", "run 8h, down 62h, run 20h", "01 07:00, 04 07:00"},
	{"except: what is around it is caught up", "0 7 * * *", Schedule{Except: days("2026-06-02..2026-06-03"), CatchUp: CatchUpAll, Overlap: OverlapAllow}, "2026-06-01T00:00:00Z", "run 1h, down 80h, run 16h",
		"01 07:00 at 09:00, 04 07:00 at 09:00"},
	{"except: the day is that of the zone", "TZ=Europe/Zurich 30 0 * * *", Schedule{Except: days("2026-06-02")}, "2026-05-31T12:00:00Z", "run 72h", "01 00:30+02, 03 00:30+02"},
	{"except: a day of 25 hours", "TZ=Europe/Zurich 0 */6 * * *", Schedule{Except: days("2026-10-25")}, "2026-10-24T15:00:00Z", "run 36h", "24 18:00+02, 26 00:00+01"},
	{"except: a moved time is on its new day", "TZ=Pacific/Apia 0 7 * * *", Schedule{Except: days("2011-12-30")}, "2011-12-29T12:00:00Z", "run 31h", "29 07:00-10, 31 00:00+14, 31 07:00+14"},
	{"except: @every goes on counting", "@every 10h", Schedule{Except: days("2026-06-02")}, "2026-06-01T00:00:00Z", "run 72h", "01 10:00, 01 20:00, 03 02:00, 03 12:00, 03 22:00"},
	{"except: the last day", "0 7 * * *", Schedule{Except: days("2026-06-02..2026-06-30"), End: at("2026-06-20T00:00:00Z")}, "2026-06-01T00:00:00Z", "run 72h", "01 07:00"},
	{"except added later changes nothing else", "0 7 * * *", Schedule{}, "2026-06-01T00:00:00Z", "run 8h, except 2026-06-02, run 48h", "01 07:00, 03 07:00"},

	// Bounds, pauses, changes, rivals.
	{"start", "0 * * * *", Schedule{Start: at("2026-06-01T03:00:00Z")}, "2026-06-01T00:30:00Z", "run 4h", "01 03:00, 01 04:00"},
	{"end", "0 * * * *", Schedule{End: at("2026-06-01T03:00:00Z")}, "2026-06-01T00:30:00Z", "run 4h", "01 01:00, 01 02:00"},
	{"paused: what passes is not late afterwards", "0 * * * *", Schedule{}, "2026-06-01T00:30:00Z", "run 1h, pause, run 3h, resume, run 1h", "01 01:00, 01 05:00"},
	{"paused before the service began", "0 * * * *", Schedule{}, "2026-06-01T00:30:00Z", "run 1h, pause, down 2h, run 1h, resume, run 1h", "01 01:00, 01 05:00"},
	{"another line begins anew", "0 * * * *", Schedule{CatchUp: CatchUpAll}, "2026-06-01T00:30:00Z", "run 1h, line 15 * * * *, run 1h", "01 01:00, 01 02:15"},
	{"another line while no service was there", "0 * * * *", Schedule{CatchUp: CatchUpAll}, "2026-06-01T00:30:00Z", "run 1h, edit 15 * * * *, down 3h, run 1h", "01 01:00, 01 05:15"},
	{"another service was quicker", "0 * * * *", Schedule{}, "2026-06-01T00:30:00Z", "run 1h, rival, run 1h", "01 01:00, taken 01 02:00"},
	{"@every counts from the first service", "@every 25m", Schedule{}, "2026-06-01T00:10:00Z", "run 1h", "01 00:35, 01 01:00"},
	{"@every goes on counting after a restart", "@every 25m", Schedule{}, "2026-06-01T00:10:00Z", "run 30m, down 5m, run 1h", "01 00:35, 01 01:00, 01 01:25"},
	{"@every counts from its start", "@every 25m", Schedule{Start: at("2026-06-01T00:05:00Z")}, "2026-06-01T00:10:00Z", "run 1h", "01 00:30, 01 00:55"},
	{"jitter leaves the slots what they are", "0 * * * *", Schedule{Jitter: 10 * time.Minute}, "2026-06-01T00:30:00Z", "run 3h", "01 01:00, 01 02:00, 01 03:00"},
	{"restarted between a slot and its jittered start", "0 * * * *", Schedule{CatchUp: CatchUpNone, Jitter: 30 * time.Minute}, "2026-06-01T00:59:59Z", "run 2s, down 2s, run 30m", "01 01:00"},
	{"done already, by hand", "0 7 * * *", Schedule{SkipIfSuccessful: true}, "2026-06-01T00:00:00Z", "run 6h, success, run 24h, run 2h", "skip 01 07:00, 02 07:00"},
	{"a run of the schedule's own is no reason to skip the next", "0 7 * * *", Schedule{SkipIfSuccessful: true}, "2026-06-01T00:00:00Z", "run 32h", "01 07:00, 02 07:00"},
}

func days(text string) cron.Days {
	d, err := cron.ParseDays(text)
	if err != nil {
		panic(err)
	}
	return d
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestCases(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			spec, err := cron.Parse(c.line, cron.Options{Zone: time.UTC})
			if err != nil {
				t.Fatal(err)
			}
			c.s.Name, c.s.Tool, c.s.Spec = "it", "tool", spec
			if got := play(t, c.s, at(c.begin), strings.Split(c.happens, ", ")); got != c.want {
				t.Errorf("%s, from %s: %s\ngot  %s\nwant %s", c.line, c.begin, c.happens, got, c.want)
			}
		})
	}
}
