package cron

import (
	"strings"
	"testing"
	"time"
)

// slots returns the next times of a line: "2026-03-29T03:00:00+02:00", each with its note after a space.
func slots(s Spec, after time.Time, n int) []string {
	var list []string
	for range n {
		if after = s.Next(after); after.IsZero() {
			return append(list, "never")
		}
		at := strings.TrimSuffix(after.Format("2006-01-02 Mon 15:04:05Z07:00"), ":00")
		list = append(list, strings.TrimSpace(at+" "+s.Note(after)))
	}
	return list
}

func compareSlots(t *testing.T, line, after string, want []string) {
	t.Helper()
	s := must(t, line)
	from, err := time.Parse(time.RFC3339, after)
	if err != nil {
		t.Fatal(err)
	}
	got := slots(s, from, len(want))
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("%s after %s:\n%s\nwant\n%s", line, after, strings.Join(got, "\n"), strings.Join(want, "\n"))
			return
		}
	}
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		line, after string
		want        []string
	}{
		{"* * * * *", "2026-01-01T00:00:00Z", []string{"2026-01-01 Thu 00:01:00Z", "2026-01-01 Thu 00:02:00Z"}},
		{"* * * * *", "2026-01-01T00:00:59.999999999Z", []string{"2026-01-01 Thu 00:01:00Z"}},
		{"* * * * * *", "2026-12-31T23:59:58.5Z", []string{"2026-12-31 Thu 23:59:59Z", "2027-01-01 Fri 00:00:00Z"}},
		{"30 59 23 31 12 *", "2026-12-31T23:59:30Z", []string{"2027-12-31 Fri 23:59:30Z"}},
		{"10,20 5,6 1 * * *", "2026-01-01T01:05:20Z", []string{"2026-01-01 Thu 01:06:10Z", "2026-01-01 Thu 01:06:20Z", "2026-01-02 Fri 01:05:10Z"}},
		{"0 7 * * 1-5", "2026-01-02T07:00:00Z", []string{"2026-01-05 Mon 07:00:00Z"}},
		{"0 0 13 * FRI", "2026-02-01T00:00:00Z", []string{"2026-02-06 Fri 00:00:00Z", "2026-02-13 Fri 00:00:00Z", "2026-02-20 Fri 00:00:00Z", "2026-02-27 Fri 00:00:00Z", "2026-03-06 Fri 00:00:00Z"}},
		{"0 0 13 * ?", "2026-02-01T00:00:00Z", []string{"2026-02-13 Fri 00:00:00Z", "2026-03-13 Fri 00:00:00Z", "2026-04-13 Mon 00:00:00Z"}},
		{"0 0 */10 * MON", "2026-06-01T00:00:00Z", []string{"2026-06-08 Mon 00:00:00Z", "2026-06-11 Thu 00:00:00Z", "2026-06-15 Mon 00:00:00Z", "2026-06-21 Sun 00:00:00Z"}},
		{"0 0 31 * *", "2026-01-31T00:00:00Z", []string{"2026-03-31 Tue 00:00:00Z", "2026-05-31 Sun 00:00:00Z"}},
		{"0 0 29 2 *", "2026-01-01T00:00:00Z", []string{"2028-02-29 Tue 00:00:00Z", "2032-02-29 Sun 00:00:00Z"}},
		{"0 0 29 2 *", "2096-03-01T00:00:00Z", []string{"2104-02-29 Fri 00:00:00Z"}},
		{"0 0 ? 2 MON#5", "2044-03-01T00:00:00Z", []string{"2072-02-29 Mon 00:00:00Z", "2112-02-29 Mon 00:00:00Z"}},
		{"0 0 L * *", "2027-12-31T00:00:00Z", []string{"2028-01-31 Mon 00:00:00Z", "2028-02-29 Tue 00:00:00Z", "2028-03-31 Fri 00:00:00Z"}},
		{"0 0 L-29 * *", "2026-01-01T00:00:00Z", []string{"2026-01-02 Fri 00:00:00Z", "2026-03-02 Mon 00:00:00Z", "2026-04-01 Wed 00:00:00Z"}},
		{"0 0 L-28 2 *", "2026-01-01T00:00:00Z", []string{"2028-02-01 Tue 00:00:00Z"}},
		{"0 0 LW * *", "2026-01-01T00:00:00Z", []string{"2026-01-30 Fri 00:00:00Z", "2026-02-27 Fri 00:00:00Z", "2026-03-31 Tue 00:00:00Z"}},
		{"0 0 1W * *", "2026-07-02T00:00:00Z", []string{"2026-08-03 Mon 00:00:00Z day 1 is a Saturday: nearest weekday", "2026-09-01 Tue 00:00:00Z"}},
		{"0 0 15W * *", "2026-02-01T00:00:00Z", []string{"2026-02-16 Mon 00:00:00Z day 15 is a Sunday: nearest weekday", "2026-03-16 Mon 00:00:00Z day 15 is a Sunday: nearest weekday", "2026-04-15 Wed 00:00:00Z", "2026-05-15 Fri 00:00:00Z"}},
		{"0 0 15W,16 * *", "2026-03-01T00:00:00Z", []string{"2026-03-16 Mon 00:00:00Z"}},
		{"0 0 31W * *", "2026-01-01T00:00:00Z", []string{"2026-01-30 Fri 00:00:00Z day 31 is a Saturday: nearest weekday", "2026-03-31 Tue 00:00:00Z", "2026-05-29 Fri 00:00:00Z day 31 is a Sunday: nearest weekday"}},
		{"0 0 * * 5L", "2026-01-01T00:00:00Z", []string{"2026-01-30 Fri 00:00:00Z", "2026-02-27 Fri 00:00:00Z", "2026-03-27 Fri 00:00:00Z"}},
		{"0 0 * * 7L", "2026-05-01T00:00:00Z", []string{"2026-05-31 Sun 00:00:00Z", "2026-06-28 Sun 00:00:00Z"}},
		{"0 0 * * FRI#3", "2026-01-01T00:00:00Z", []string{"2026-01-16 Fri 00:00:00Z", "2026-02-20 Fri 00:00:00Z"}},
		{"0 0 * * 0#5", "2026-01-01T00:00:00Z", []string{"2026-03-29 Sun 00:00:00Z", "2026-05-31 Sun 00:00:00Z"}},
		{"0 0 * * SAT-SUN", "2026-01-01T00:00:00Z", []string{"2026-01-03 Sat 00:00:00Z", "2026-01-04 Sun 00:00:00Z", "2026-01-10 Sat 00:00:00Z"}},
		{"@yearly", "2026-01-01T00:00:00Z", []string{"2027-01-01 Fri 00:00:00Z"}},
		{"@weekly", "2026-01-01T00:00:00Z", []string{"2026-01-04 Sun 00:00:00Z"}},
		{"0 7 * * *", "0000-01-01T00:00:00Z", []string{"0001-01-01 Mon 07:00:00Z"}},
		{"0 7 * * *", "9999-12-30T08:00:00Z", []string{"9999-12-31 Fri 07:00:00Z", "never"}},
		{"0 0 29 2 *", "9996-03-01T00:00:00Z", []string{"never"}},
		{"@every 1h", "9999-12-31T23:30:00Z", []string{"never"}},
		{"CRON_TZ=Asia/Kolkata 0 7 * * *", "2026-01-01T02:00:00Z", []string{"2026-01-02 Fri 07:00:00+05:30"}},
		{"@every 1h30m", "1970-01-01T01:00:00Z", []string{"1970-01-01 Thu 01:30:00Z", "1970-01-01 Thu 03:00:00Z"}},
	} {
		compareSlots(t, c.line, c.after, c.want)
	}
}

// TestWallClock checks the rules for clock changes, in both directions for each zone.
func TestWallClock(t *testing.T) {
	for _, c := range []struct {
		line, after string
		want        []string
	}{
		// Europe/Zurich: 02:00 becomes 03:00 on 2026-03-29, 03:00 becomes 02:00 on 2026-10-25.
		{"TZ=Europe/Zurich 30 2 * * *", "2026-03-28T00:00:00Z", []string{
			"2026-03-28 Sat 02:30:00+01", "2026-03-29 Sun 03:00:00+02 02:30 does not exist on 2026-03-29: first valid instant", "2026-03-30 Mon 02:30:00+02"}},
		{"TZ=Europe/Zurich 30 2 * * *", "2026-10-24T00:00:00Z", []string{
			"2026-10-24 Sat 02:30:00+02", "2026-10-25 Sun 02:30:00+02 02:30 is repeated on 2026-10-25: first pass", "2026-10-26 Mon 02:30:00+01"}},
		{"TZ=Europe/Zurich 30 2 * * *", "2026-10-25T00:30:00Z", []string{"2026-10-26 Mon 02:30:00+01"}},
		{"TZ=Europe/Zurich 30 2 * * *", "2026-10-25T01:10:00Z", []string{"2026-10-26 Mon 02:30:00+01"}},
		{"TZ=Europe/Zurich 0 3 * * *", "2026-10-24T12:00:00Z", []string{"2026-10-25 Sun 03:00:00+01"}},
		{"TZ=Europe/Zurich 0 2 * * *", "2026-10-24T12:00:00Z", []string{"2026-10-25 Sun 02:00:00+02 02:00 is repeated on 2026-10-25: first pass"}},
		{"TZ=Europe/Zurich */15 2 * * *", "2026-03-29T00:59:59Z", []string{
			"2026-03-29 Sun 03:00:00+02 02:00 to 02:45 do not exist on 2026-03-29: first valid instant", "2026-03-30 Mon 02:00:00+02"}},
		{"TZ=Europe/Zurich 0 2,3,4 * * *", "2026-03-29T00:00:00Z", []string{
			"2026-03-29 Sun 03:00:00+02 02:00 does not exist on 2026-03-29: first valid instant", "2026-03-29 Sun 04:00:00+02"}},
		{"TZ=Europe/Zurich 30 2 29 3 *", "2026-03-01T00:00:00Z", []string{"2026-03-29 Sun 03:00:00+02 02:30 does not exist on 2026-03-29: first valid instant", "2027-03-29 Mon 02:30:00+02"}},
		{"TZ=Europe/Zurich 0 * * * *", "2026-03-29T00:00:00Z", []string{
			"2026-03-29 Sun 03:00:00+02 02:00 does not exist on 2026-03-29: skipped", "2026-03-29 Sun 04:00:00+02"}},
		{"TZ=Europe/Zurich 0 * * * *", "2026-10-24T23:00:00Z", []string{
			"2026-10-25 Sun 02:00:00+02 02:00 is repeated on 2026-10-25: first pass", "2026-10-25 Sun 02:00:00+01 02:00 is repeated on 2026-10-25: second pass", "2026-10-25 Sun 03:00:00+01"}},
		{"TZ=Europe/Zurich 30 */2 * * *", "2026-03-28T23:30:00Z", []string{"2026-03-29 Sun 04:30:00+02 02:30 does not exist on 2026-03-29: skipped"}},
		{"TZ=Europe/Zurich 30 */2 * * *", "2026-10-24T23:00:00Z", []string{
			"2026-10-25 Sun 02:30:00+02 02:30 is repeated on 2026-10-25: first pass", "2026-10-25 Sun 02:30:00+01 02:30 is repeated on 2026-10-25: second pass", "2026-10-25 Sun 04:30:00+01"}},
		{"TZ=Europe/Zurich 30 2-4/2 * * *", "2026-03-28T23:30:00Z", []string{"2026-03-29 Sun 04:30:00+02 02:30 does not exist on 2026-03-29: skipped"}},
		{"TZ=Europe/Zurich * 2 * * *", "2026-10-25T00:58:00Z", []string{"2026-10-25 Sun 02:59:00+02 02:59 is repeated on 2026-10-25: first pass", "2026-10-26 Mon 02:00:00+01"}},
		{"TZ=Europe/Zurich 15 30 2 * * *", "2026-03-29T00:00:00Z", []string{"2026-03-29 Sun 03:00:00+02 02:30:15 does not exist on 2026-03-29: first valid instant"}},
		// America/New_York: 2026-03-08 and 2026-11-01.
		{"TZ=America/New_York 15 2 * * *", "2026-03-08T05:00:00Z", []string{"2026-03-08 Sun 03:00:00-04 02:15 does not exist on 2026-03-08: first valid instant", "2026-03-09 Mon 02:15:00-04"}},
		{"TZ=America/New_York 15 1 * * *", "2026-11-01T04:00:00Z", []string{"2026-11-01 Sun 01:15:00-04 01:15 is repeated on 2026-11-01: first pass", "2026-11-02 Mon 01:15:00-05"}},
		{"TZ=America/New_York */30 * * * *", "2026-11-01T05:15:00Z", []string{
			"2026-11-01 Sun 01:30:00-04 01:30 is repeated on 2026-11-01: first pass", "2026-11-01 Sun 01:00:00-05 01:00 is repeated on 2026-11-01: second pass",
			"2026-11-01 Sun 01:30:00-05 01:30 is repeated on 2026-11-01: second pass", "2026-11-01 Sun 02:00:00-05"}},
		// Australia/Lord_Howe changes by 30 minutes: 02:00 to 02:30 on 2026-10-04, 02:00 to 01:30 on 2026-04-05.
		{"TZ=Australia/Lord_Howe 15 2 * * *", "2026-10-03T12:00:00Z", []string{"2026-10-04 Sun 02:30:00+11 02:15 does not exist on 2026-10-04: first valid instant", "2026-10-05 Mon 02:15:00+11"}},
		{"TZ=Australia/Lord_Howe 45 1 * * *", "2026-04-04T12:00:00Z", []string{"2026-04-05 Sun 01:45:00+11 01:45 is repeated on 2026-04-05: first pass", "2026-04-06 Mon 01:45:00+10:30"}},
		{"TZ=Australia/Lord_Howe 15 1 * * *", "2026-04-04T12:00:00Z", []string{"2026-04-05 Sun 01:15:00+11", "2026-04-06 Mon 01:15:00+10:30"}},
		{"TZ=Australia/Lord_Howe */15 * * * *", "2026-04-04T14:25:00Z", []string{
			"2026-04-05 Sun 01:30:00+11 01:30 is repeated on 2026-04-05: first pass", "2026-04-05 Sun 01:45:00+11 01:45 is repeated on 2026-04-05: first pass",
			"2026-04-05 Sun 01:30:00+10:30 01:30 is repeated on 2026-04-05: second pass", "2026-04-05 Sun 01:45:00+10:30 01:45 is repeated on 2026-04-05: second pass", "2026-04-05 Sun 02:00:00+10:30"}},
		{"TZ=Australia/Lord_Howe */15 * * * *", "2026-10-03T15:15:00Z", []string{
			"2026-10-04 Sun 02:30:00+11 02:00 to 02:15 do not exist on 2026-10-04: skipped", "2026-10-04 Sun 02:45:00+11"}},
		// Midnight does not exist: Sao Paulo 2018-11-04, Beirut 2026-03-29, Cairo 2026-04-24.
		{"TZ=America/Sao_Paulo @daily", "2018-11-03T12:00:00Z", []string{"2018-11-04 Sun 01:00:00-02 00:00 does not exist on 2018-11-04: first valid instant", "2018-11-05 Mon 00:00:00-02"}},
		{"TZ=America/Sao_Paulo 0 0 4 11 *", "2018-01-01T00:00:00Z", []string{"2018-11-04 Sun 01:00:00-02 00:00 does not exist on 2018-11-04: first valid instant", "2019-11-04 Mon 00:00:00-03"}},
		{"TZ=America/Sao_Paulo 30 23 * * *", "2018-02-17T12:00:00Z", []string{"2018-02-17 Sat 23:30:00-02 23:30 is repeated on 2018-02-17: first pass", "2018-02-18 Sun 23:30:00-03"}},
		{"TZ=America/Sao_Paulo @daily", "2018-02-17T12:00:00Z", []string{"2018-02-18 Sun 00:00:00-03"}},
		{"TZ=Asia/Beirut 0 0 * * SUN", "2026-03-28T12:00:00Z", []string{"2026-03-29 Sun 01:00:00+03 00:00 does not exist on 2026-03-29: first valid instant", "2026-04-05 Sun 00:00:00+03"}},
		{"TZ=Africa/Cairo 59 23 * * *", "2026-04-23T12:00:00Z", []string{"2026-04-23 Thu 23:59:00+02", "2026-04-24 Fri 23:59:00+03"}},
		{"TZ=Africa/Cairo 30 0 * * *", "2026-04-23T12:00:00Z", []string{"2026-04-24 Fri 01:00:00+03 00:30 does not exist on 2026-04-24: first valid instant"}},
		// Whole days were skipped: Apia 2011-12-30, Kwajalein 1993-08-21.
		{"TZ=Pacific/Apia 0 7 * * *", "2011-12-29T00:00:00Z", []string{"2011-12-29 Thu 07:00:00-10", "2011-12-31 Sat 00:00:00+14 2011-12-30 does not exist: first valid instant", "2011-12-31 Sat 07:00:00+14"}},
		{"TZ=Pacific/Apia 0 7 * * FRI", "2011-12-29T20:00:00Z", []string{"2011-12-31 Sat 00:00:00+14 2011-12-30 does not exist: first valid instant", "2012-01-06 Fri 07:00:00+14"}},
		{"TZ=Pacific/Apia 0 */6 * * *", "2011-12-30T04:30:00Z", []string{"2011-12-31 Sat 00:00:00+14 2011-12-30 does not exist: skipped", "2011-12-31 Sat 06:00:00+14"}},
		{"TZ=Pacific/Apia 0 * 30 12 *", "2011-12-01T04:30:00Z", []string{"2012-12-30 Sun 00:00:00+14"}},
		{"TZ=Pacific/Kwajalein 0 12 20-22 8 *", "1993-08-20T20:00:00Z", []string{"1993-08-20 Fri 12:00:00-12", "1993-08-22 Sun 00:00:00+12 1993-08-21 does not exist: first valid instant", "1993-08-22 Sun 12:00:00+12"}},
		// The last day of a leap year, far in the future.
		{"TZ=Europe/Zurich 0 * * * *", "2044-12-31T21:30:00Z", []string{"2044-12-31 Sat 23:00:00+01", "2045-01-01 Sun 00:00:00+01"}},
		{"TZ=Europe/Zurich 0 12 1 1 *", "2044-12-31T09:30:00Z", []string{"2045-01-01 Sun 12:00:00+01"}},
		{"TZ=Australia/Lord_Howe 30 4-23/2 * * *", "2044-12-30T18:30:00Z", []string{"2044-12-31 Sat 06:30:00+11"}},
		// @every does not depend on local time.
		{"TZ=Europe/Zurich @every 30m", "2026-03-29T00:15:00Z", []string{"2026-03-29 Sun 01:30:00+01", "2026-03-29 Sun 03:00:00+02"}},
	} {
		compareSlots(t, c.line, c.after, c.want)
	}
}

func TestFrom(t *testing.T) {
	start := time.Date(2026, 1, 1, 10, 7, 3, 500, time.UTC)
	s := must(t, "@every 15m").From(start)
	for after, want := range map[time.Duration]time.Duration{-time.Hour: 0, -1: 0, 0: 15 * time.Minute, 14 * time.Minute: 15 * time.Minute, 15 * time.Minute: 30 * time.Minute, 100 * time.Hour: 100*time.Hour + 15*time.Minute} {
		begin := start.Truncate(time.Second)
		if got := s.Next(begin.Add(after)); !got.Equal(begin.Add(want)) {
			t.Errorf("after %v: %v, want %v", after, got.Sub(begin), want)
		}
	}
	if daily := must(t, "@daily"); !daily.From(start).Equal(daily) || s.Equal(must(t, "@every 15m")) {
		t.Error("From matters to @every alone")
	}
}

// TestNoteIsForSlots checks that a time at which the line does not fire has no note.
func TestNoteIsForSlots(t *testing.T) {
	s := must(t, "TZ=Europe/Zurich 30 2 * * *")
	for _, at := range []string{"2026-10-25T01:30:00Z", "2026-03-29T01:30:00Z", "2026-10-25T00:31:00Z"} {
		when, _ := time.Parse(time.RFC3339, at)
		if note := s.Note(when); note != "" {
			t.Errorf("%s: %s", at, note)
		}
	}
}

// nextSlowly implements the documentation of Next second by second, judging by what the clock shows. It stops after span.
func nextSlowly(s Spec, after time.Time, span time.Duration) time.Time {
	matches := func(t time.Time) bool {
		first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
		length := first.AddDate(0, 1, -1).Day()
		return s.seconds&(1<<t.Second()) != 0 && s.minutes&(1<<t.Minute()) != 0 && s.hours&(1<<t.Hour()) != 0 &&
			s.months&(1<<t.Month()) != 0 && s.date.matching(length, first.Weekday())&(1<<t.Day()) != 0
	}
	reading := func(t time.Time) int64 { _, offset := t.Zone(); return t.Unix() + int64(offset) }
	after = after.Truncate(time.Second).In(s.Zone())
	top := reading(after)
	for t := after.Add(-4 * time.Hour); t.Before(after); t = t.Add(time.Second) {
		top = max(top, reading(t))
	}
	for t := after.Add(time.Second); t.Sub(after) <= span; t = t.Add(time.Second) {
		if s.realTime {
			if matches(t) {
				return t
			}
			continue
		}
		for w := top + 1; w <= reading(t); w++ {
			if matches(time.Unix(w, 0).UTC()) {
				return t
			}
		}
		top = max(top, reading(t))
	}
	return time.Time{}
}

var zones = []string{"UTC", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Beirut", "Africa/Cairo", "Pacific/Apia", "Asia/Kathmandu", "Africa/Casablanca", "America/St_Johns", "Antarctica/Troll", "Asia/Gaza"}

// FuzzNext checks that times are strictly after the given one, equal those of nextSlowly, and do not depend on the time
// from which they are reached.
func FuzzNext(f *testing.F) {
	f.Add("30 2 * * *", uint8(1), int64(1774742400))
	f.Add("*/15 * * * *", uint8(3), int64(1791000000))
	f.Add("0 7 * * *", uint8(7), int64(1325200000))
	f.Add("30 0 29 2 *", uint8(4), int64(951000000))
	f.Add("* * 2 L * *", uint8(6), int64(1777000000))
	f.Fuzz(func(t *testing.T, line string, zone uint8, at int64) {
		z, err := LoadZone(zones[int(zone)%len(zones)])
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(line, Options{Zone: z})
		if err != nil {
			return
		}
		after := time.Unix(at%(1<<40), 0)
		first := s.Next(after)
		switch {
		case first.IsZero():
			if after.Year() < 9900 && s.Interval() == 0 {
				t.Fatalf("%s after %v: never", s, after.UTC())
			}
			return
		case !first.After(after), !s.Next(after).Equal(first), !s.Next(first.Add(-1)).Equal(first):
			t.Fatalf("%s after %v: %v, then %v", s, after.UTC(), first, s.Next(first.Add(-1)))
		}
		second := s.Next(first)
		if !second.IsZero() && (!second.After(first) || !s.Next(second.Add(-time.Second)).Equal(second)) {
			t.Fatalf("%s after %v: %v, then %v", s, after.UTC(), first, second)
		}
		s.Note(first)
		if y := first.Year(); s.Interval() == 0 && y > 1700 && y < 2300 {
			from := first.Add(-3 * time.Hour)
			if fast, slow := s.Next(from), nextSlowly(s, from, 3*time.Hour); !fast.Equal(slow) {
				t.Fatalf("%s after %v: %v, slowly %v", s, from, fast, slow)
			}
		}
	})
}

func BenchmarkNext(b *testing.B) {
	for _, line := range []string{"* * * * *", "0 7 * * 1-5", "0 0 29 2 *", "0 * 29 2 *", "0 0 ? 2 MON#5", "0 0 LW * *", "@every 15m"} {
		b.Run(strings.ReplaceAll(line, "/", "|"), func(b *testing.B) {
			s := must(b, "TZ=Europe/Zurich "+line)
			at := time.Date(2044, 3, 1, 0, 0, 0, 0, time.UTC)
			for b.Loop() {
				s.Next(at)
			}
		})
	}
}
