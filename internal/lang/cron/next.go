package cron

import (
	"math/bits"
	"time"
)

// lastYear is the last year in which anything fires. RFC 3339 cannot represent later years.
const lastYear = 9999

var (
	firstSecond = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	lastSecond  = time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
)

// Next returns the first time after after at which the line fires, in the zone of the Spec and without fractions
// of a second. Every line that Parse accepts fires at least once in 40 years. Next returns the zero time
// for the zero Spec, and if the line would fire after the year 9999. Years before 1 count as year 1.
func (s Spec) Next(after time.Time) time.Time {
	from := max(after.Unix(), firstSecond)
	var fires int64
	var ok bool
	switch {
	case from >= lastSecond:
	case s.every > 0:
		fires, ok = s.nextInterval(from), true
	case s.seconds == 0:
	case s.realTime:
		fires, ok = s.nextReal(from)
	default:
		fires, ok = s.nextFixed(from)
	}
	t := time.Unix(fires, 0).In(s.Zone())
	if !ok || t.Year() > lastYear {
		return time.Time{}
	}
	return t
}

func (s *Spec) nextInterval(from int64) int64 {
	if from < s.anchor {
		return s.anchor
	}
	return from + s.every - (from-s.anchor)%s.every
}

// nextFixed is Next for lines with fixed hours. They fire when the highest reading of the clock so far reaches
// a matching time.
func (s *Spec) nextFixed(from int64) (int64, bool) {
	c := clock{s.Zone()}
	w, ok := s.nextReading(c.highestReading(from))
	if !ok {
		return 0, false
	}
	return c.firstInstant(w), true
}

// nextReal is Next for lines that follow real time. They fire whenever the clock shows a matching time.
func (s *Spec) nextReal(from int64) (int64, bool) {
	c := clock{s.Zone()}
	at := from + 1
	for {
		p := c.period(at)
		w, ok := s.nextReading(at + p.offset - 1)
		if !ok {
			return 0, false
		}
		if t := w - p.offset; t < p.end {
			return t, true
		}
		at = max(p.end, w-maxOffset) // before w-maxOffset no clock shows w
	}
}

// nextReading returns the first matching reading of a clock after another reading. Readings are counted in
// seconds, as if the clock were in UTC.
func (s *Spec) nextReading(after int64) (int64, bool) {
	t := time.Unix(after+1, 0).UTC()
	year, month, day := t.Date()
	now, firstDay := timeOfDay{t.Hour(), t.Minute(), t.Second()}, true
	for year <= lastYear {
		if s.months&(1<<month) != 0 {
			first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
			set := s.date.matching(daysIn(year, month), first.Weekday()) >> day << day
			for ; set != 0; set &= set - 1 {
				d := bits.TrailingZeros64(set)
				of := now
				if !firstDay || d != day {
					of = timeOfDay{}
				}
				if found, ok := s.timeFrom(of); ok {
					return first.Unix() + int64(d-1)*86400 + found.seconds(), true
				}
			}
		}
		day, firstDay = 1, false
		if month++; month > time.December {
			year, month = year+1, time.January
		}
	}
	return 0, false
}

// timeOfDay is hour, minute and second.
type timeOfDay struct{ h, m, s int }

func (t timeOfDay) seconds() int64 { return int64(t.h*3600 + t.m*60 + t.s) }

// timeFrom returns the first matching time of a day that is t or later, false if there is none.
func (s *Spec) timeFrom(t timeOfDay) (timeOfDay, bool) {
	h, ok := nextIn(s.hours, t.h)
	if !ok {
		return t, false
	}
	if h > t.h {
		return s.firstIn(h), true
	}
	if m, ok := nextIn(s.minutes, t.m); ok {
		if m > t.m {
			return timeOfDay{h, m, bits.TrailingZeros64(s.seconds)}, true
		}
		if sec, ok := nextIn(s.seconds, t.s); ok {
			return timeOfDay{h, m, sec}, true
		}
		if m, ok = nextIn(s.minutes, t.m+1); ok {
			return timeOfDay{h, m, bits.TrailingZeros64(s.seconds)}, true
		}
	}
	if h, ok = nextIn(s.hours, t.h+1); ok {
		return s.firstIn(h), true
	}
	return t, false
}

func (s *Spec) firstIn(hour int) timeOfDay {
	return timeOfDay{hour, bits.TrailingZeros64(s.minutes), bits.TrailingZeros64(s.seconds)}
}

// nextIn returns the lowest value of a set that is at least n, false if there is none.
func nextIn(set uint64, n int) (int, bool) {
	set = set >> n << n
	return bits.TrailingZeros64(set), set != 0
}
