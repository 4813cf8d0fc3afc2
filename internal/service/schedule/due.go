package schedule

import (
	"sort"
	"time"
)

// ScheduledTime is one time at which a schedule is due.
type ScheduledTime struct {
	At   time.Time // the time of the cron expression, which identifies the scheduled time
	Due  time.Time // when it starts: At plus the jitter
	Late bool      // it was missed and is caught up
}

// Now is what a schedule has to do at one moment.
type Now struct {
	// Fire are the times to start, oldest first.
	Fire []ScheduledTime
	// Missed is the number of times that are skipped because they are too late, at most
	// 10,000. LastMissed is the newest of them. They are older than those that fire.
	Missed     int
	LastMissed time.Time
	// NewestMissed are the newest of the missed times, oldest first: at least the newest 100.
	NewestMissed []time.Time
	// Next is when to check again: the start of the next scheduled time. Zero: never.
	Next time.Time
}

// late reports whether times were missed or are caught up.
func (n *Now) late() bool { return n.Missed > 0 || len(n.Fire) > 0 && n.Fire[0].Late }

const (
	// onTime is the delay up to which a start is not late: a machine under load is not a
	// service that was down.
	onTime = 10 * time.Second
	// onTimeSlots is how many times can be on time at once.
	onTimeSlots = int(onTime/time.Second) + 2
	countUpTo   = 10_000
)

// Due returns what to do at a moment about the times after the cursor, which is the last
// time that was handled. It is a pure function.
func Due(s *Schedule, cursor, now time.Time) Now {
	if s.Paused {
		return Now{}
	}
	list, count := newest(s, cursor, now, max(DefaultCap, s.catchUpLimit())+onTimeSlots+2)
	n := Now{}
	if last := len(list) - 1; last >= 0 && s.due(list[last]).After(now) {
		n.Next = s.due(list[last])
		list, count = list[:last], count-1
	} else if next := s.Next(latest(cursor, now)); !next.IsZero() {
		n.Next = s.due(next)
	}
	slots := make([]ScheduledTime, len(list))
	firstOnTime := len(list) // index of the first time that is on time
	for i, at := range list {
		slots[i] = ScheduledTime{At: at, Due: s.due(at)}
		slots[i].Late = now.Sub(slots[i].Due) > onTime
		if !slots[i].Late {
			firstOnTime = min(firstOnTime, i)
		}
	}
	n.Fire = slots[firstOnTime-s.catchUpCount(slots[:firstOnTime], firstOnTime < len(slots), now):]
	n.Missed = count - len(n.Fire)
	if n.Missed > 0 {
		n.NewestMissed = list[:len(list)-len(n.Fire)]
		n.LastMissed = n.NewestMissed[len(n.NewestMissed)-1]
	}
	return n
}

// catchUpCount returns how many of the late times fire, counted from the newest. Unless each late
// time must be caught up, a time that is on time replaces them.
func (s *Schedule) catchUpCount(late []ScheduledTime, hasOnTime bool, now time.Time) int {
	n := 0
	for n < len(late) && (s.Window == 0 || now.Sub(late[len(late)-1-n].At) <= s.Window) {
		n++
	}
	switch {
	case s.CatchUp == CatchUpAll:
		return min(n, s.catchUpLimit())
	case s.CatchUp == CatchUpNone || hasOnTime:
		return 0
	}
	return min(n, 1)
}

// newest returns the newest n times after one time and up to another, and the number of all
// of them, at most 10,000. The cost does not depend on how many there are.
func newest(s *Schedule, after, upTo time.Time, n int) (list []time.Time, count int) {
	for at := s.Next(after); !at.IsZero() && !at.After(upTo) && count < countUpTo; at = s.Next(at) {
		list = append(list, at)
		count++
	}
	if count == countUpTo {
		list = list[:0]
		for at := s.Next(beforeLast(s, after, upTo, n)); !at.IsZero() && !at.After(upTo); at = s.Next(at) {
			list = append(list, at)
		}
	}
	return list[max(0, len(list)-n):], count
}

// beforeLast returns the last second after which there are still n times up to upTo.
func beforeLast(s *Schedule, after, upTo time.Time, n int) time.Time {
	span := int(upTo.Sub(after) / time.Second)
	few := sort.Search(span, func(seconds int) bool {
		at := after.Add(time.Duration(seconds) * time.Second)
		for range n {
			if at = s.Next(at); at.IsZero() || at.After(upTo) {
				return true
			}
		}
		return false
	})
	return after.Add(time.Duration(max(few-1, 0)) * time.Second)
}

// previous returns the time before another; ok is false for the first.
func (s *Schedule) previous(slot time.Time) (at time.Time, ok bool) {
	const longest = 9 * 366 * 24 * time.Hour // from one leap day to the next around 2100
	at = s.Next(beforeLast(s, slot.Add(-longest), slot.Add(-time.Nanosecond), 1))
	return at, at.Before(slot)
}
