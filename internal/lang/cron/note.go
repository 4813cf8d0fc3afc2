package cron

import (
	"fmt"
	"math"
	"time"
)

// Note explains in words why a time at which the line fires is unusual: the clocks were changed, or the day was
// moved to a weekday. It returns "" for all other times, and for times at which the line does not fire.
func (s Spec) Note(scheduled time.Time) string {
	at := scheduled.Unix()
	if s.seconds == 0 || !s.Next(time.Unix(at-1, 0)).Equal(scheduled) {
		return ""
	}
	c := clock{s.Zone()}
	if text := s.noteSkipped(c, at); text != "" {
		return text
	}
	reading := at + c.period(at).offset
	switch c.pass(at) {
	case 1:
		return fmt.Sprintf("%s is repeated on %s: first pass", s.clockTime(reading), day(reading))
	case 2:
		return fmt.Sprintf("%s is repeated on %s: second pass", s.clockTime(reading), day(reading))
	}
	return s.noteWeekday(time.Unix(reading, 0).UTC())
}

// noteSkipped explains local times that were skipped just before this one.
func (s *Spec) noteSkipped(c clock, at int64) string {
	turned := c.period(at).start
	if turned == math.MinInt64 {
		return ""
	}
	lo, hi := c.gap(turned)
	first, ok := s.nextReading(lo - 1)
	if !ok || first >= hi {
		return ""
	}
	if !s.realTime && turned == at {
		return s.skipped(first, lo, hi) + ": first valid instant"
	}
	if next, _ := s.nextReal(turned - 1); s.realTime && next == at {
		return s.skipped(first, lo, hi) + ": skipped"
	}
	return ""
}

// skipped names the matching times in a gap. first is the first of them.
func (s *Spec) skipped(first, lo, hi int64) string {
	if hi-lo >= 86400 {
		return day(first) + " does not exist"
	}
	last := first
	for w := first; w < hi; w, _ = s.nextReading(w) {
		last = w
	}
	if last == first {
		return fmt.Sprintf("%s does not exist on %s", s.clockTime(first), day(first))
	}
	return fmt.Sprintf("%s to %s do not exist on %s", s.clockTime(first), s.clockTime(last), day(first))
}

func day(reading int64) string { return time.Unix(reading, 0).UTC().Format(time.DateOnly) }

// clockTime returns a time of day. It leaves out the seconds if the line has none.
func (s *Spec) clockTime(reading int64) string {
	form := "15:04"
	if s.words[0] != "0" {
		form = time.TimeOnly
	}
	return time.Unix(reading, 0).UTC().Format(form)
}

// noteWeekday explains a day that matches only because of nW.
func (s *Spec) noteWeekday(t time.Time) string {
	year, month, on := t.Date()
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Weekday()
	length := daysIn(year, month)
	plain := s.date
	plain.month.nearestWeekday = 0
	if s.date.month.nearestWeekday == 0 || plain.matching(length, first)&(1<<on) != 0 {
		return ""
	}
	for n := 1; n <= length; n++ {
		if s.date.month.nearestWeekday&(1<<n) != 0 && n != on && weekday(n, length, first) == on {
			return fmt.Sprintf("day %d is a %s: nearest weekday", n, weekdayOf(n, first))
		}
	}
	return ""
}
