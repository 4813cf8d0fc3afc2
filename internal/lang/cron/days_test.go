package cron

import (
	"testing"
	"time"
)

func TestDays(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"2026-12-25":                    "2026-12-25",
		"2026-12-25 # Christmas\n\n#\n": "2026-12-25",
		"2026-12-26..2026-12-31\r\n2026-12-24\n2026-12-25": "2026-12-24..2026-12-31",
		"2026-01-01..2026-01-10\n2026-01-03\n2026-01-12":   "2026-01-01..2026-01-10, 2026-01-12",
		"2026-02-28 .. 2026-03-01\n2026-02-27":             "2026-02-27..2026-03-01",
	} {
		d, err := ParseDayList(text)
		if err != nil || d.String() != want {
			t.Errorf("%q: %v, %v, want %v", text, d, err, want)
		}
	}
	for text, want := range map[string]string{
		"2026-02-30":               `line 1: "2026-02-30" is not a date; write one, such as 2026-12-25, or a range, such as 2026-12-24..2026-12-31`,
		"# x\n2026-1-1":            `line 2: "2026-1-1" is not a date; write one, such as 2026-12-25, or a range, such as 2026-12-24..2026-12-31`,
		"2026-12-31..2026-12-24":   "line 1: the range 2026-12-31..2026-12-24 ends before it starts",
		"2026-12-24..":             `line 1: "2026-12-24.." is not a date; write one, such as 2026-12-25, or a range, such as 2026-12-24..2026-12-31`,
		"2026-12-24, 2026-12-25":   `line 1: "2026-12-24, 2026-12-25" is not a date; write one, such as 2026-12-25, or a range, such as 2026-12-24..2026-12-31`,
		"2026-12-24T00:00:00Z # x": `line 1: "2026-12-24T00:00:00Z" is not a date; write one, such as 2026-12-25, or a range, such as 2026-12-24..2026-12-31`,
	} {
		if _, err := ParseDayList(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

// TestSkipDays checks in zones with unusual clock changes that Skip leaves out no time of another day, and that it ends.
func TestSkipDays(t *testing.T) {
	days, err := ParseDayList("2011-12-29\n2011-12-30\n2018-11-03\n2026-03-29\n2026-10-25\n2026-12-24..2026-12-31")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"UTC", "Europe/Zurich", "America/Sao_Paulo", "Pacific/Apia", "Australia/Lord_Howe"} {
		zone, err := LoadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []string{"2011-12-27", "2018-11-01", "2026-03-27", "2026-10-23", "2026-12-22"} {
			begin, _ := time.ParseInLocation(time.DateOnly, from, zone)
			for at := begin; at.Before(begin.AddDate(0, 0, 14)); at = at.Add(10 * time.Minute) {
				skip := days.Skip(at)
				if skip.Before(at) || !days.Contains(at) && !skip.Equal(at) {
					t.Fatalf("%v: %v", at, skip)
				}
				for between := at; between.Before(skip); between = between.Add(10 * time.Minute) {
					if !days.Contains(between) {
						t.Fatalf("%v to %v leaves out %v", at, skip, between)
					}
				}
			}
		}
	}
	one, _ := ParseDays("0001-01-01..9999-12-31")
	if got := one.Skip(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); got.Year() != 9999 {
		t.Error(got)
	}
}
