package timetable

import (
	"context"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// Clock says when a schedule fires.
type Clock struct {
	Schedule, Tool string // the id of the schedule
	// Next is when the first time that was not handled yet fires at the latest: with all of its jitter. It is in the past if
	// the schedule is late, and zero if there is none.
	Next time.Time
	// Previous is the time before the last one that has passed since a service first saw the schedule, zero if there is none.
	Previous time.Time
}

// Entries returns the schedules that this service fires, sorted by name. s may be nil.
func (s *Scheduler) Entries() []Entry {
	if s == nil {
		return nil
	}
	return s.sortedEntries()
}

// Timetable returns the schedules that this service fires, and those that it cannot fire.
func (s *Scheduler) Timetable() *Timetable {
	t := &Timetable{Entries: s.sortedEntries()}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Stopped = slices.Clone(s.stopped)
	return t
}

// Clocks returns when the schedules of this service fire, sorted by name. A paused schedule has only its name and its tool.
// s may be nil.
func (s *Scheduler) Clocks(ctx context.Context) (list []Clock, err error) {
	now := time.Now()
	for _, e := range s.Entries() {
		if e.Trigger != nil {
			continue
		}
		c, err := s.clock(ctx, e, now)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func (s *Scheduler) clock(ctx context.Context, e Entry, now time.Time) (Clock, error) {
	c := Clock{Schedule: e.Name, Tool: e.Tool}
	since, watched, err := s.firings.Anchor(ctx, e.Name, e.Plan())
	if err != nil || !watched || e.Paused || e.toolMissing {
		return c, err
	}
	plan, err := WithAnchor(ctx, s.firings, e)
	if err == nil {
		c.Next, err = Unhandled(ctx, s.firings, e)
	}
	if !c.Next.IsZero() {
		c.Next = c.Next.Add(e.Jitter)
	}
	c.Previous = beforeLast(plan, since, now)
	return c, err
}

// Unhandled returns the first time of a schedule that no service has handled yet, without its jitter. It is zero if there is
// none: no service has seen the schedule, or it is paused, over, or without its tool.
func Unhandled(ctx context.Context, s sqlite.Firings, e Entry) (time.Time, error) {
	_, watched, err := s.Anchor(ctx, e.Name, e.Plan())
	if err != nil || !watched || e.Paused || e.toolMissing || e.Trigger != nil {
		return time.Time{}, err
	}
	cursor, _, err := s.Cursor(ctx, e.Name)
	if err != nil {
		return time.Time{}, err
	}
	plan, err := WithAnchor(ctx, s, e)
	return plan.Next(cursor), err
}

// beforeLast returns the time before the last one after since and not after now, zero if there are not two.
func beforeLast(plan schedule.Schedule, since, now time.Time) (before time.Time) {
	for span := time.Minute; ; span *= 60 { // few times are in a minute, and not many more in the shortest span with two
		from := now.Add(-span)
		if from.Before(since) {
			from = since
		}
		var last time.Time
		for at := plan.Next(from); !at.IsZero() && !at.After(now); at = plan.Next(at) {
			before, last = last, at
		}
		if !before.IsZero() || !from.After(since) {
			return before
		}
	}
}
