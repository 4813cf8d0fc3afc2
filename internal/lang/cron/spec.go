package cron

import (
	"fmt"
	"strings"
	"time"
)

// Spec is a parsed line. The zero Spec never fires. A Spec does not change. Safe for concurrent use.
type Spec struct {
	text      string // the line without its zone, in its canonical spelling
	zone      *time.Location
	namesZone bool // the line names its zone
	every     int64
	anchor    int64 // of every, in seconds since 1970

	seconds, minutes, hours, months uint64 // sets of values, one bit each
	realTime                        bool   // the hour has a wildcard or a step
	date                            dates
	words                           [6]string // the fields, including the second
}

// Zone returns the time zone of the line.
func (s Spec) Zone() *time.Location {
	if s.zone == nil {
		return time.UTC
	}
	return s.zone
}

// Zoned reports whether the line names its zone, by CRON_TZ= or TZ=.
func (s Spec) Zoned() bool { return s.namesZone }

// Text returns the line without its zone, in upper case and with single spaces.
func (s Spec) Text() string { return s.text }

// String returns the line with its zone. Parse accepts it and returns an equal Spec, except that the start of
// @every is lost. The zone of the machine is left out.
func (s Spec) String() string {
	if s.zone == nil || s.zone == time.Local && !s.namesZone {
		return s.text
	}
	return "CRON_TZ=" + s.zone.String() + " " + s.text
}

// Equal reports whether both fire at the same times for the same reason.
func (s Spec) Equal(o Spec) bool {
	return s.text == o.text && s.Zone().String() == o.Zone().String() && s.anchor == o.anchor
}

// Interval returns the interval of @every, 0 for every other line.
func (s Spec) Interval() time.Duration { return time.Duration(s.every) * time.Second }

// From returns the Spec with the times of @every counted from start: start, start plus the interval, and so on.
// Fractions of a second are dropped. Without From, times are counted from 1970-01-01T00:00:00Z. Lines
// other than @every do not change.
func (s Spec) From(start time.Time) Spec {
	if s.every > 0 {
		s.anchor = start.Unix()
	}
	return s
}

// spellInterval returns seconds in Go's spelling of durations without zero parts, such as 1h30m.
func spellInterval(seconds int64) string {
	var b strings.Builder
	for _, u := range []struct {
		seconds int64
		name    string
	}{{3600, "h"}, {60, "m"}, {1, "s"}} {
		if n := seconds / u.seconds; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
		}
		seconds %= u.seconds
	}
	return b.String()
}
