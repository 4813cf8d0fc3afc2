package cron

import (
	"math"
	"time"
)

// clock is the local time of a zone. A reading is what a clock on a wall in the zone shows, in seconds counted
// as if the zone were UTC. An instant is seconds since 1970.
//
// A line with fixed hours fires when the highest reading so far reaches a matching time. While the clock
// runs normally, that is when the clock shows the time. When the clock is turned forward, it reaches all
// skipped readings at that instant. When it is turned back, it reaches nothing new until it passes its
// highest reading.
type clock struct{ zone *time.Location }

// maxOffset is an upper bound for the offset of any zone from UTC, in seconds.
const maxOffset = 26 * 3600

// period is a span of time in which the offset of a zone is constant, from start up to, but without, end. The
// next period may have the same offset.
type period struct{ start, end, offset int64 }

func (c clock) period(at int64) period {
	t := time.Unix(at, 0).In(c.zone)
	_, offset := t.Zone()
	p := period{math.MinInt64, math.MaxInt64, int64(offset)}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		p.start = start.Unix()
	}
	if !end.IsZero() {
		p.end = end.Unix()
	}
	if p.end <= at { // beyond the zone's table ZoneBounds assumes that every year has 365 days
		p.end = time.Date(time.Unix(at, 0).UTC().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	return p
}

// highestReading returns the highest reading up to an instant.
func (c clock) highestReading(at int64) int64 {
	p := c.period(at)
	top := at + p.offset
	for p.start > at-2*maxOffset {
		end := p.start
		p = c.period(end - 1)
		top = max(top, end-1+p.offset)
	}
	return top
}

// firstInstant returns the first instant at which the highest reading is at least w.
func (c clock) firstInstant(w int64) int64 {
	at := w - maxOffset
	for {
		p := c.period(at)
		t := max(w-p.offset, at) // at, if the clock was turned forward beyond w
		if t < p.end {
			return t
		}
		at = p.end
	}
}

// gap returns the readings that are skipped at the start of a period: from lo up to, but without, hi. If none
// are skipped, hi is not above lo.
func (c clock) gap(start int64) (lo, hi int64) {
	return start + c.period(start-1).offset, start + c.period(start).offset
}

// pass returns how many times the clock has shown its reading of an instant: 1 or 2, or 0 if it shows that
// reading only once.
func (c clock) pass(at int64) int {
	p := c.period(at)
	w := at + p.offset
	switch {
	case p.start != math.MinInt64 && w < p.start+c.period(p.start-1).offset:
		return 2
	case p.end != math.MaxInt64 && w >= p.end+c.period(p.end).offset:
		return 1
	}
	return 0
}
