package cron

import (
	"testing"
	"time"
)

func TestDeadline(t *testing.T) {
	zone, err := LoadZone("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, at, want string }{
		{"06:00", "2026-06-01T02:00:00+02:00", "2026-06-01T06:00:00+02:00"},
		{"06:00", "2026-06-01T06:00:00+02:00", "2026-06-02T06:00:00+02:00"},
		{"06:00:30", "2026-06-01T06:00:00+02:00", "2026-06-01T06:00:30+02:00"},
		{"06:00", "2026-06-01T22:00:00+02:00", "2026-06-02T06:00:00+02:00"},
		{"45m", "2026-06-01T23:30:00+02:00", "2026-06-02T00:15:00+02:00"},
		{"1d", "2026-03-28T12:00:00+01:00", "2026-03-29T13:00:00+02:00"},    // of 24 hours
		{"02:30", "2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00"}, // is skipped
		{"02:30", "2026-10-25T01:00:00+02:00", "2026-10-25T02:30:00+02:00"}, // occurs twice
		{"06:00", "2026-03-28T23:00:00+01:00", "2026-03-29T06:00:00+02:00"},
	} {
		d, err := ParseDeadline(c.text, zone)
		if err != nil {
			t.Fatal(err)
		}
		at, _ := time.Parse(time.RFC3339, c.at)
		if got := d.Of(at).In(zone).Format(time.RFC3339); got != c.want || !d.IsSet() || d.String() != c.text {
			t.Errorf("%s after %s: %s, want %s", c.text, c.at, got, c.want)
		}
	}
	for _, text := range []string{"", "6", "24:00", "6:00 am", "06:60", "0s", "-1h", "1500ms", "soon", ":"} {
		if d, err := ParseDeadline(text, zone); err == nil || d.IsSet() {
			t.Errorf("%q: %v", text, d)
		}
	}
	if d := (Deadline{}); d.IsSet() || !d.Of(time.Now()).IsZero() {
		t.Error("the zero value is a deadline")
	}
}
