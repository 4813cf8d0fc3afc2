package cron

import (
	"math"
	"time"
)

// clock is the clock on the wall of a zone. Its readings are seconds counted as if the
// zone were UTC; instants are seconds since 1970.
//
// A fixed line fires when the highest reading so far reaches a matching time. While the
// clock simply runs, that is whenever the clock shows the time. When it is turned
// forward, all readings in between are reached at that instant; when it is turned back,
// nothing is reached until it is past where it was.
type clock struct{ zone *time.Location }

// maxOffset is more than any two clocks of the earth ever differed from UTC, in seconds.
const maxOffset = 26 * 3600

// period is a span of time in which a zone's offset from UTC stays the same: from start
// up to, but without, end. The next one may have the same offset.
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
	if p.end <= at { // beyond the zone's table, ZoneBounds takes every year for 365 days
		p.end = time.Date(time.Unix(at, 0).UTC().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	return p
}

// highestReading is the highest reading up to an instant.
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

// firstInstant is the first instant at which the highest reading is at least w.
func (c clock) firstInstant(w int64) int64 {
	at := w - maxOffset
	for {
		p := c.period(at)
		t := max(w-p.offset, at) // at: the clock was turned forward, beyond w
		if t < p.end {
			return t
		}
		at = p.end
	}
}

// gap is the readings that are skipped where a period starts: from lo up to, but
// without, hi. None are: hi is not above lo.
func (c clock) gap(start int64) (lo, hi int64) {
	return start + c.period(start-1).offset, start + c.period(start).offset
}

// pass says which time it is that the clock shows its reading of an instant: 1 or 2, or
// 0 where it shows it but once.
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
