package cron

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Describe returns the line in words, such as "at 07:00 on Monday to Friday, Europe/Zurich".
func (s Spec) Describe() string {
	switch {
	case s.every > 0:
		return "every " + spellInterval(s.every)
	case s.seconds == 0:
		return "never"
	}
	times, listed := s.timeWords()
	days, months := s.dayWords(), ""
	if s.months != stepSet(1, 12, 1) {
		months = " in " + listValues(s.months, 1, 12, monthName)
	}
	if listed && days == "" && months == "" {
		days = " every day"
	}
	zone := s.Zone().String()
	if s.zone == time.Local {
		zone = "local time"
	}
	return times + days + months + ", " + zone
}

// maxListedTimes is how many times of day are listed one by one.
const maxListedTimes = 6

// timeWords returns the times of day in words. listed reports that it lists them one by one.
func (s *Spec) timeWords() (text string, listed bool) {
	if size(s.hours)*size(s.minutes)*size(s.seconds) <= maxListedTimes && !s.realTime {
		var list []string
		for t, ok := s.timeFrom(timeOfDay{}); ok; t, ok = s.timeFrom(timeOfDay{t.h, t.m, t.s + 1}) {
			list = append(list, s.clockTime(t.seconds()))
		}
		return "at " + joinWords(list, "and"), true
	}
	within := s.withinHour()
	every, regular := strings.CutPrefix(rhythm(s.hours, 24, "hour"), "every ")
	allDay := s.hours == stepSet(0, 23, 1)
	switch exact := s.minutes == 1 && s.seconds == 1; {
	case regular && exact:
		return "every " + every, false
	case allDay && !strings.Contains(within, "at "):
		return within, false
	case regular:
		return within + " of every " + every, false
	}
	low, top := bits.TrailingZeros64(s.hours), bits.Len64(s.hours)-1
	if s.hours != stepSet(low, top, 1) {
		return within + " of the hours " + listValues(s.hours, 0, 23, strconv.Itoa), false
	}
	if size(s.minutes) == 1 && s.seconds == 1 {
		within = "every hour"
	}
	first, last := s.firstIn(low), timeOfDay{top, bits.Len64(s.minutes) - 1, bits.Len64(s.seconds) - 1}
	return within + " from " + s.clockTime(first.seconds()) + " to " + s.clockTime(last.seconds()), false
}

// withinHour returns minutes and seconds in words, such as "every 15 minutes" or "at minute 5".
func (s *Spec) withinHour() string {
	minutes := rhythm(s.minutes, 60, "minute")
	switch {
	case s.seconds == 1:
		return minutes
	case s.minutes == stepSet(0, 59, 1):
		return rhythm(s.seconds, 60, "second")
	}
	return rhythm(s.seconds, 60, "second") + " " + strings.Replace(minutes, "every ", "of every ", 1)
}

// rhythm returns values in words, such as "every 5 minutes" or "at minutes 7 and 8".
func rhythm(values uint64, n int, unit string) string {
	for step := 1; step < n; step++ {
		if n%step != 0 || values != stepSet(0, n-1, step) {
			continue
		}
		if step == 1 {
			return "every " + unit
		}
		return fmt.Sprintf("every %d %ss", step, unit)
	}
	return "at " + plural(values, unit) + " " + listValues(values, 0, n-1, strconv.Itoa)
}

func plural(values uint64, unit string) string {
	if size(values) == 1 {
		return unit
	}
	return unit + "s"
}

func size(values uint64) int { return bits.OnesCount64(values) }

// listValues returns values in words. Three or more in a row become "a to b".
func listValues(values uint64, low, top int, name func(int) string) string {
	var list []string
	for i := low; i <= top; i++ {
		if values&(1<<i) == 0 {
			continue
		}
		end := i
		for end < top && values&(1<<(end+1)) != 0 {
			end++
		}
		if end < i+2 {
			list = append(list, name(i))
			continue
		}
		list = append(list, name(i)+" to "+name(end))
		i = end
	}
	return joinWords(list, "and")
}

func monthName(n int) string { return time.Month(n).String() }

// dayName returns the name of a day, from 1 for Monday to 7 for Sunday.
func dayName(n int) string { return time.Weekday(n % 7).String() }

func (s *Spec) dayWords() string {
	month, week := s.monthDays(), s.weekDays()
	switch {
	case s.date.month.any && s.date.week.any:
		return ""
	case s.date.month.any:
		return week
	case s.date.week.any:
		return month
	}
	return month + " or" + week
}

func (s *Spec) monthDays() string {
	v := s.date.month
	var list []string
	if v.set != 0 {
		days := plural(v.set, "day") + " " + listValues(v.set, 1, 31, strconv.Itoa)
		if v.set == stepSet(1, 31, 2) {
			days = "every odd day"
		}
		list = append(list, days)
	}
	for n := 1; n <= 31; n++ {
		if v.nearestWeekday&(1<<n) != 0 {
			list = append(list, fmt.Sprintf("the weekday nearest day %d", n))
		}
	}
	if v.lastWeekday {
		list = append(list, "the last weekday")
	}
	if v.fromLast&1 != 0 {
		list = append(list, "the last day")
	}
	for n := 1; n <= 30; n++ {
		if v.fromLast&(1<<n) != 0 {
			list = append(list, fmt.Sprintf("the last day but %d", n))
		}
	}
	return " on " + joinWords(list, "and") + " of the month"
}

func (s *Spec) weekDays() string {
	v := s.date.week
	var list []string
	if v.set != 0 {
		list = append(list, listValues(v.set&^1|v.set&1<<7, 1, 7, dayName))
	}
	for n, nth := range [6]string{1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"} {
		if v.nth[n] != 0 {
			list = append(list, "the "+nth+" "+weekSet(uint64(v.nth[n])))
		}
	}
	if v.lastOf != 0 {
		list = append(list, "the last "+weekSet(v.lastOf))
	}
	text := " on " + joinWords(list, "and")
	if v.lastOf != 0 || v.nth != [6]uint8{} {
		text += " of the month"
	}
	return text
}

func weekSet(values uint64) string {
	var list []string
	for n := 1; n <= 7; n++ {
		if values&(1<<(n%7)) != 0 {
			list = append(list, dayName(n))
		}
	}
	return joinWords(list, "and")
}
