package cron

import "time"

// dates says which days of a month match.
type dates struct {
	month, week values
}

// matching returns the matching days of a month, with bit 1 for the first of the month. length is the number
// of days of the month, and first the weekday of its first day.
func (d *dates) matching(length int, first time.Weekday) uint64 {
	all := stepSet(1, length, 1)
	switch {
	case d.month.any && d.week.any:
		return all
	case d.month.any:
		return d.byWeek(length, first) & all
	case d.week.any:
		return d.byMonth(length, first) & all
	}
	return (d.byMonth(length, first) | d.byWeek(length, first)) & all
}

func (d *dates) byMonth(length int, first time.Weekday) uint64 {
	v := &d.month
	set := v.set
	for back := range length {
		if v.fromLast&(1<<back) != 0 {
			set |= 1 << (length - back)
		}
	}
	if v.lastWeekday {
		set |= 1 << weekday(length, length, first)
	}
	for n := 1; n <= length && v.nearestWeekday>>n != 0; n++ {
		if v.nearestWeekday&(1<<n) != 0 {
			set |= 1 << weekday(n, length, first)
		}
	}
	return set
}

// weekday returns the day from Monday to Friday that is nearest to day n in the same month.
func weekday(n, length int, first time.Weekday) int {
	switch day := weekdayOf(n, first); {
	case day == time.Saturday && n > 1:
		return n - 1
	case day == time.Saturday:
		return n + 2
	case day == time.Sunday && n < length:
		return n + 1
	case day == time.Sunday:
		return n - 2
	}
	return n
}

func weekdayOf(n int, first time.Weekday) time.Weekday {
	return (first + time.Weekday(n-1)) % 7
}

func (d *dates) byWeek(length int, first time.Weekday) uint64 {
	v := &d.week
	var set uint64
	for n := 1; n <= length; n++ {
		bit := uint64(1) << weekdayOf(n, first)
		nth := (n-1)/7 + 1
		if v.set&bit != 0 || v.nth[nth]&uint8(bit) != 0 || v.lastOf&bit != 0 && n+7 > length {
			set |= 1 << n
		}
	}
	return set
}

// possible reports whether any day can ever match. It tries every length of each month with every weekday as
// its first day; all of them occur in the 400 years after which the calendar repeats.
func (d *dates) possible(months uint64) bool {
	for m := time.January; m <= time.December; m++ {
		if months&(1<<m) == 0 {
			continue
		}
		shortest, longest := lengths(m)
		for length := shortest; length <= longest; length++ {
			for first := range time.Weekday(7) {
				if d.matching(length, first) != 0 {
					return true
				}
			}
		}
	}
	return false
}

// lengths returns the minimum and maximum number of days of a month.
func lengths(m time.Month) (shortest, longest int) {
	switch m {
	case time.February:
		return 28, 29
	case time.April, time.June, time.September, time.November:
		return 30, 30
	}
	return 31, 31
}

func daysIn(year int, m time.Month) int {
	shortest, longest := lengths(m)
	if m == time.February && (year%4 != 0 || year%100 == 0 && year%400 != 0) {
		return shortest
	}
	return longest
}
