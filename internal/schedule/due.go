package schedule

import (
	"sort"
	"time"
)

// ScheduledTime is one time at which a schedule is due.
type ScheduledTime struct {
	At   time.Time // the time of the cron line: the slot's identity
	Due  time.Time // when it starts: At, and the jitter
	Late bool      // it is made up for
}

// Now is what a schedule comes to at one moment.
type Now struct {
	// Fire are the slots to start, oldest first.
	Fire []ScheduledTime
	// Missed is how many slots are left out because they are too late; it counts up to
	// 10,000. LastMissed is the newest of them. They are older than what fires.
	Missed     int
	LastMissed time.Time
	// Next is when to look again: the start of the next slot. Zero: never.
	Next time.Time
}

// late says whether slots have been missed or are made up for.
func (n *Now) late() bool { return n.Missed > 0 || len(n.Fire) > 0 && n.Fire[0].Late }

const (
	// onTime is how late a start may be to be no matter of catching up: a machine under
	// load is not a service that was down.
	onTime = 10 * time.Second
	// onTimeSlots is how many slots can be on time at once.
	onTimeSlots = int(onTime/time.Second) + 2
	countUpTo   = 10_000
)

// Due says what of the slots after the cursor, the last one that was dealt with, is to be
// done at a moment. It is a pure function.
func Due(s *Schedule, cursor, now time.Time) Now {
	if s.Paused {
		return Now{}
	}
	list, count := newest(s, cursor, now, s.max()+onTimeSlots+2)
	n := Now{}
	if last := len(list) - 1; last >= 0 && s.due(list[last]).After(now) {
		n.Next = s.due(list[last])
		list, count = list[:last], count-1
	} else if next := s.Next(latest(cursor, now)); !next.IsZero() {
		n.Next = s.due(next)
	}
	slots := make([]ScheduledTime, len(list))
	prompt := len(list) // where those begin that are on time
	for i, at := range list {
		slots[i] = ScheduledTime{At: at, Due: s.due(at)}
		slots[i].Late = now.Sub(slots[i].Due) > onTime
		if !slots[i].Late {
			prompt = min(prompt, i)
		}
	}
	n.Fire = slots[prompt-s.madeUp(slots[:prompt], prompt < len(slots), now):]
	n.Missed = count - len(n.Fire)
	if n.Missed > 0 {
		n.LastMissed = slots[len(slots)-len(n.Fire)-1].At
	}
	return n
}

// madeUp is how many of the late slots fire, the newest. A slot that is on time makes
// up for late ones where once will do.
func (s *Schedule) madeUp(late []ScheduledTime, prompt bool, now time.Time) int {
	n := 0
	for n < len(late) && (s.Window == 0 || now.Sub(late[len(late)-1-n].At) <= s.Window) {
		n++
	}
	switch {
	case s.CatchUp == CatchUpAll:
		return min(n, s.max())
	case s.CatchUp == CatchUpNone || prompt:
		return 0
	}
	return min(n, 1)
}

// newest are the newest n slots after a time and up to another, and how many there are at
// all, counted up to 10,000. It costs little however many there are.
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

// beforeLast is the last second after which there are still n slots up to a time.
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

// previous is the slot before another; ok is false for the first.
func (s *Schedule) previous(slot time.Time) (at time.Time, ok bool) {
	const longest = 9 * 366 * 24 * time.Hour // from one leap day to the next around 2100
	at = s.Next(beforeLast(s, slot.Add(-longest), slot.Add(-time.Nanosecond), 1))
	return at, at.Before(slot)
}
