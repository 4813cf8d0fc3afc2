package cron

import "time"

// Calendar is what the fields of a line say, for another scheduler. A set has one bit for each value.
// That of @every is empty.
type Calendar struct {
	Seconds, Minutes, Hours, Months uint64
	RealTime                        bool // the line follows real time when the clocks change
	date                            dates
}

// Calendar returns what the fields of the line say.
func (s Spec) Calendar() Calendar {
	return Calendar{s.seconds, s.minutes, s.hours, s.months, s.realTime, s.date}
}

// Days returns the days on which the line fires in a month of a length whose first day is a weekday, in
// any of its Months. Bit 1 is the first of the month.
func (c Calendar) Days(length int, first time.Weekday) uint64 { return c.date.matching(length, first) }
