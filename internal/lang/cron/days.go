package cron

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Days is a set of calendar days. The zero value has none.
type Days struct {
	ranges []dayRange // sorted; they neither touch nor overlap
}

// dayRange is a range of days, each as midnight in UTC.
type dayRange struct{ first, last time.Time }

// ParseDays parses a day, such as 2026-12-25, or a range of days with both ends, such as
// 2026-12-24..2026-12-31.
func ParseDays(text string) (Days, error) {
	from, to, ranged := strings.Cut(text, "..")
	if !ranged {
		to = from
	}
	first, err := time.Parse(time.DateOnly, strings.TrimSpace(from))
	last, err2 := time.Parse(time.DateOnly, strings.TrimSpace(to))
	switch {
	case err != nil || err2 != nil:
		return Days{}, fmt.Errorf("%s is not a date; write one, such as 2026-12-25, or a range, such as 2026-12-24..2026-12-31", strconv.Quote(shorten(text)))
	case last.Before(first):
		return Days{}, fmt.Errorf("the range %s ends before it starts", text)
	}
	return Days{[]dayRange{{first, last}}}, nil
}

// ParseDayList parses lines with a day or a range each. What follows a # is a comment. The error
// names the first line that is wrong.
func ParseDayList(text string) (all Days, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		days, err := ParseDays(line)
		if err != nil {
			return Days{}, fmt.Errorf("line %d: %w", n, err)
		}
		all.ranges = append(all.ranges, days.ranges...)
	}
	return all.merged(), nil
}

// Union returns the days of both sets.
func (d Days) Union(o Days) Days { return Days{slices.Concat(d.ranges, o.ranges)}.merged() }

// merged sorts the ranges and joins those that touch or overlap.
func (d Days) merged() Days {
	slices.SortFunc(d.ranges, func(x, y dayRange) int { return x.first.Compare(y.first) })
	var list []dayRange
	for _, r := range d.ranges {
		if n := len(list) - 1; n >= 0 && !r.first.After(list[n].last.AddDate(0, 0, 1)) {
			if r.last.After(list[n].last) {
				list[n].last = r.last
			}
			continue
		}
		list = append(list, r)
	}
	return Days{list}
}

// Contains reports whether the date of t, in the zone of t, is one of the days.
func (d Days) Contains(t time.Time) bool {
	_, found := d.find(t)
	return found
}

func (d Days) find(t time.Time) (dayRange, bool) {
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	i, found := slices.BinarySearchFunc(d.ranges, day, func(r dayRange, day time.Time) int {
		if !day.Before(r.first) && !day.After(r.last) {
			return 0
		}
		return cmp.Or(r.first.Compare(day), -1)
	})
	if !found {
		return dayRange{}, false
	}
	return d.ranges[i], true
}

// Skip returns a time near the end of the days that follow t without a gap, and not before t: until
// then, no time is on another day. If the date of t is none of the days, it returns t.
func (d Days) Skip(t time.Time) time.Time {
	const shift = 3 * time.Hour // more than clocks are set back at a midnight
	r, found := d.find(t)
	end := r.last
	if near := time.Date(end.Year(), end.Month(), end.Day()+1, 0, 0, 0, 0, t.Location()).Add(-shift); found && near.After(t) {
		return near
	}
	return t
}

// String lists the days and ranges, separated by commas.
func (d Days) String() string {
	list := make([]string, len(d.ranges))
	for i, r := range d.ranges {
		if list[i] = r.first.Format(time.DateOnly); !r.last.Equal(r.first) {
			list[i] += ".." + r.last.Format(time.DateOnly)
		}
	}
	return strings.Join(list, ", ")
}
