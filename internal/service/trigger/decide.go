package trigger

import (
	"time"

	"github.com/flowrun/flowrun/internal/service/schedule"
)

// Decide returns the action for an event while some runs of its entry are active and some are queued. Unlike scheduled
// times, which differ only in their time, events have data: queue, the default, keeps each of them.
func Decide(o schedule.Overlap, running, queued int) (a schedule.Action, reason string) {
	switch {
	case running+queued == 0 || o == schedule.OverlapAllow:
		return schedule.Start, ""
	case o == schedule.OverlapReplace:
		return schedule.Replace, ""
	case o == schedule.OverlapSkip:
		return schedule.Skip, "overlap: the previous run is still active"
	}
	return schedule.Queue, ""
}

// Missed says which of some late events, oldest first, start no run: skip reports it for each. ages are the times since
// the events. window is how old an event may be; 0: there is no limit.
func Missed(c schedule.CatchUp, window time.Duration, ages []time.Duration) (skip []bool) {
	skip = make([]bool, len(ages))
	for i, age := range ages {
		switch {
		case c == schedule.CatchUpNone, window > 0 && age > window:
			skip[i] = true
		case c == schedule.CatchUpOnce:
			skip[i] = i < len(ages)-1
		}
	}
	return skip
}
