package schedule

import (
	"math/bits"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/flowrun/flowrun/internal/lang/cron"
)

// week has the days of a month on which something happens, for each weekday, with bit 1 for the first
// of the month.
type week [7]uint64

// calendars returns a cron line as calendars of Temporal, which fire at the union of their times. In one
// calendar, day of month and day of week must both match; it knows no last day and no nearest weekday.
// But a day and its weekday, in a month of a known length, say which weekday the first of the month is,
// and that decides whether a line matches. So every line is a set of pairs of a day and a weekday.
func calendars(spec cron.Spec) []client.ScheduleCalendarSpec {
	c := spec.Calendar()
	weeks := map[int]week{} // by length of the month
	for month := time.January; month <= time.December; month++ {
		if c.Months&(1<<month) != 0 {
			for _, length := range lengths(month) {
				weeks[length] = weekOf(c, length)
			}
		}
	}
	if all, same := common(weeks); same {
		return byWeek(spec, all, c.Months, nil)
	}
	var list []client.ScheduleCalendarSpec
	for length := 28; length <= 31; length++ {
		if w, ok := weeks[length]; ok {
			list = append(list, byWeek(spec, w, c.Months&monthsOf(length), yearsOf(length))...)
		}
	}
	return list
}

// weekOf returns the days of months of a length.
func weekOf(c cron.Calendar, length int) (w week) {
	for first := range time.Weekday(7) {
		for days := c.Days(length, first); days != 0; days &= days - 1 {
			day := bits.TrailingZeros64(days)
			w[(int(first)+day-1)%7] |= 1 << day
		}
	}
	return w
}

// common returns the days of months of any length, if the length makes no difference. A day that a
// month does not have matches nothing.
func common(weeks map[int]week) (all week, same bool) {
	for _, w := range weeks {
		for day := range w {
			all[day] |= w[day]
		}
	}
	for length, w := range weeks {
		for day := range w {
			if all[day]&(1<<(length+1)-1) != w[day] {
				return all, false
			}
		}
	}
	return all, true
}

// byWeek returns one calendar for all weekdays that have the same days.
func byWeek(spec cron.Spec, w week, months uint64, years []client.ScheduleRange) (list []client.ScheduleCalendarSpec) {
	weekdays := map[uint64]uint64{} // by their days
	for day, days := range w {
		weekdays[days] |= 1 << day
	}
	c := spec.Calendar()
	for day, days := range w {
		if set := weekdays[days]; days != 0 && bits.TrailingZeros64(set) == day {
			list = append(list, client.ScheduleCalendarSpec{Comment: spec.Text(),
				Second: ranges(c.Seconds), Minute: ranges(c.Minutes), Hour: ranges(c.Hours),
				DayOfMonth: ranges(days), Month: ranges(months), Year: years, DayOfWeek: ranges(set)})
		}
	}
	return list
}

// ranges returns the values of a set.
func ranges(set uint64) (list []client.ScheduleRange) {
	low, high := bits.TrailingZeros64(set), 63-bits.LeadingZeros64(set)
	if n := bits.OnesCount64(set); n > 2 && (high-low)%(n-1) == 0 { // values at the same distance
		step, steps := (high-low)/(n-1), uint64(0)
		for i := low; i <= high; i += step {
			steps |= 1 << i
		}
		if steps == set {
			return []client.ScheduleRange{{Start: low, End: high, Step: step}}
		}
	}
	for set != 0 {
		from := bits.TrailingZeros64(set)
		to := from + bits.TrailingZeros64(^(set >> from)) - 1
		list = append(list, client.ScheduleRange{Start: from, End: to, Step: 1})
		set &^= 1<<(to+1) - 1
	}
	return list
}

// lengths returns the numbers of days that a month can have.
func lengths(m time.Month) []int {
	switch m {
	case time.February:
		return []int{28, 29}
	case time.April, time.June, time.September, time.November:
		return []int{30}
	}
	return []int{31}
}

// monthsOf returns the months that can have a number of days.
func monthsOf(length int) (set uint64) {
	for m := time.January; m <= time.December; m++ {
		for _, l := range lengths(m) {
			if l == length {
				set |= 1 << m
			}
		}
	}
	return set
}

// lastYear is the last year that the calendars of Temporal know, and firstYear the first.
const firstYear, lastYear = 2000, 2100

// yearsOf returns the years in which February has a number of days, nil for all years.
func yearsOf(length int) []client.ScheduleRange {
	switch length {
	case 28: // 2100 is not a leap year
		return []client.ScheduleRange{{Start: firstYear + 1, End: lastYear - 3, Step: 4}, {Start: firstYear + 2, End: lastYear - 2, Step: 4},
			{Start: firstYear + 3, End: lastYear - 1, Step: 4}, {Start: lastYear, End: lastYear, Step: 1}}
	case 29:
		return []client.ScheduleRange{{Start: firstYear, End: lastYear - 4, Step: 4}}
	}
	return nil
}
