package cron

import (
	"fmt"
	"strings"
	"time"
)

// Spec says when something fires. Parse makes one; the zero Spec never fires. A Spec is
// a value: it is not changed once made, and any number of goroutines may use it.
type Spec struct {
	text      string // the line without its zone, in one canonical spelling
	zone      *time.Location
	namesZone bool // the line itself says the zone
	every     int64
	anchor    int64 // of every, in seconds since 1970

	seconds, minutes, hours, months uint64 // sets of values, one bit each
	realTime                        bool   // the hour has a wildcard or a step
	date                            dates
	words                           [6]string // the fields, with a second
}

// Zone is the time zone the line is about.
func (s Spec) Zone() *time.Location {
	if s.zone == nil {
		return time.UTC
	}
	return s.zone
}

// Zoned says whether the line itself names its zone, by CRON_TZ= or TZ=.
func (s Spec) Zoned() bool { return s.namesZone }

// Text is the line without its zone, in capitals and with single blanks.
func (s Spec) Text() string { return s.text }

// String is the line with its zone. Parse reads it back as an equal Spec; only the
// start of @every is not in it. The machine's own zone is not named.
func (s Spec) String() string {
	if s.zone == nil || s.zone == time.Local && !s.namesZone {
		return s.text
	}
	return "CRON_TZ=" + s.zone.String() + " " + s.text
}

// Equal says whether both fire at the same times for the same reason.
func (s Spec) Equal(o Spec) bool {
	return s.text == o.text && s.Zone().String() == o.Zone().String() && s.anchor == o.anchor
}

// Interval is that of @every, and 0 for every other line.
func (s Spec) Interval() time.Duration { return time.Duration(s.every) * time.Second }

// From is the Spec with the slots of @every counted from start: they are start, start
// plus the interval, and so on. Fractions of a second are dropped. A Spec without a
// start counts from 1970-01-01T00:00:00Z. Other lines count from nothing and stay as
// they are.
func (s Spec) From(start time.Time) Spec {
	if s.every > 0 {
		s.anchor = start.Unix()
	}
	return s
}

// spellInterval writes seconds as Go spells durations, without zero parts: 1h30m.
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
