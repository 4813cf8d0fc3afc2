// Package schedule turns the schedules of flowrun into Schedules of Temporal.
//
// [TimingOf] is a pure function: it returns how Temporal starts runs at exactly the times, and under the
// rules, of a schedule, or an error that says what Temporal cannot do in the same way. [Compare] shows
// what differs between the schedules that are wanted and those of the server, and [Apply] changes the
// server.
package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/schedule"
)

// Timing is when Temporal starts runs.
type Timing struct {
	Spec          client.ScheduleSpec
	Overlap       enumspb.ScheduleOverlapPolicy
	CatchUpWindow time.Duration
}

// noWindow is a time limit for catching up that is none. minWindow is the lowest that Temporal allows; up to
// it, a start is not late for flowrun either.
const (
	noWindow  = 100 * 365 * 24 * time.Hour
	minWindow = 10 * time.Second
)

// TimingOf returns when Temporal starts the runs of a schedule. zone is the name of its time zone. The
// times of an interval must count from a start.
func TimingOf(s schedule.Schedule, zone string, now time.Time) (Timing, error) {
	t := Timing{Spec: client.ScheduleSpec{StartAt: s.Start, Jitter: s.Jitter}}
	if s.SkipIfSuccessful {
		return t, errors.New("a Schedule of Temporal cannot skip a time because the tool has already succeeded (skip-if-successful)")
	}
	switch {
	case s.Except.String() != "":
		return t, errors.New("the days of except are not translated to a Schedule of Temporal; leave out except")
	case s.MustEndBy.IsSet():
		return t, errors.New("a Schedule of Temporal has no deadline for its runs (must-end-by)")
	case s.PauseAfter > 0:
		return t, errors.New("a Schedule of Temporal is not paused after several failures (pause-after)")
	}
	for _, v := range s.Params {
		if found := tool.SchedulePlaceholders(v); len(found) > 0 {
			return t, errors.New("a Schedule of Temporal starts all runs with the same parameters, so " + found[0] + " cannot be replaced")
		}
	}
	if err := t.setTimes(s, zone, now); err != nil {
		return t, err
	}
	return t, t.setPolicies(s, now)
}

func (t *Timing) setTimes(s schedule.Schedule, zone string, now time.Time) error {
	if !s.End.IsZero() { // Temporal includes the end
		t.Spec.EndAt = s.End.Add(-time.Nanosecond).Truncate(time.Second)
	}
	if every := s.Spec.Interval(); every > 0 {
		first := s.Spec.Next(time.Time{})
		t.Spec.Intervals = []client.ScheduleIntervalSpec{{Every: every, Offset: time.Duration(first.Unix()) * time.Second % every}}
		return nil
	}
	if zone == "Local" {
		return errors.New("the time zone of this machine has no name; set the timezone of the schedule")
	}
	t.Spec.TimeZoneName, t.Spec.Calendars = zone, calendars(s.Spec)
	if sameInUTC(s.Spec, now) {
		t.Spec.TimeZoneName = "UTC"
		return nil
	}
	return checkClock(s.Spec, now)
}

func (t *Timing) setPolicies(s schedule.Schedule, now time.Time) error {
	overlap := cmp.Or(s.Overlap, schedule.OverlapSkip)
	catchUp := cmp.Or(s.CatchUp, schedule.CatchUpOnce)
	t.Overlap = overlaps()[overlap]
	if catchUp == schedule.CatchUpNone {
		t.CatchUpWindow = minWindow
		return nil
	}
	t.CatchUpWindow = cmp.Or(s.Window, noWindow)
	switch {
	case s.Window > 0 && s.Jitter > 0:
		return errors.New("a Schedule of Temporal counts the window of catch-up from the delayed start, and flowrun from the scheduled time; leave out jitter or the window")
	case s.Window > 0 && s.Window < minWindow:
		return fmt.Errorf("the window of catch-up is shorter than %v, the minimum of Temporal", minWindow)
	case catchUp == schedule.CatchUpOnce && overlap != schedule.OverlapSkip && overlap != schedule.OverlapReplace:
		return fmt.Errorf("with overlap %s, Temporal would start several missed times, and catch-up once starts one; use overlap skip, or catch-up none", overlap)
	case catchUp == schedule.CatchUpOnce:
		return nil
	case overlap != schedule.OverlapAllow:
		return fmt.Errorf("with overlap %s, Temporal would not start each missed time, and catch-up all does; use overlap allow, or catch-up once or none", overlap)
	}
	return checkCap(s, now)
}

// overlaps returns the policies of Temporal.
func overlaps() map[schedule.Overlap]enumspb.ScheduleOverlapPolicy {
	return map[schedule.Overlap]enumspb.ScheduleOverlapPolicy{
		schedule.OverlapSkip:    enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		schedule.OverlapQueue:   enumspb.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE,
		schedule.OverlapReplace: enumspb.SCHEDULE_OVERLAP_POLICY_CANCEL_OTHER,
		schedule.OverlapAllow:   enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL,
	}
}

// checkCap returns an error unless the window of catch-up is so short that the maximum number of
// caught-up times makes no difference: Temporal has none.
func checkCap(s schedule.Schedule, now time.Time) error {
	limit := cmp.Or(s.Cap, schedule.DefaultCap)
	if s.Window == 0 {
		return fmt.Errorf("a Schedule of Temporal would start all missed times, and flowrun starts at most %d; set a window of catch-up", limit)
	}
	times := make([]time.Time, 0, checkedTimes)
	for at := s.Next(now); !at.IsZero() && len(times) < checkedTimes; at = s.Next(at) {
		times = append(times, at)
	}
	for i := limit; i < len(times); i++ {
		if times[i].Sub(times[i-limit]) <= s.Window {
			return fmt.Errorf("a Schedule of Temporal would start all times that were missed in %v, and flowrun starts at most %d; set a shorter window of catch-up, or a larger max", s.Window, limit)
		}
	}
	return nil
}

// checkedTimes is how many times of a schedule checkCap looks at.
const checkedTimes = 20_000
