package dag

import (
	"slices"
	"time"
)

// timers are places by due time, soonest first.
type timers []timer

type timer struct {
	due     time.Time
	at      place
	attempt int32 // the try that failed; a timer of an earlier one is out of date
}

func (t *timers) add(n timer) {
	i, _ := slices.BinarySearchFunc(*t, n.due, func(x timer, d time.Time) int {
		if x.due.After(d) {
			return 1
		}
		return -1 // equal times keep the order they came in
	})
	*t = slices.Insert(*t, i, n)
}

// expire makes everything a frame waits for due at once.
func (t *timers) expire(f *frame) {
	var own timers
	*t = slices.DeleteFunc(*t, func(x timer) bool {
		if x.at.f == f {
			own = append(own, timer{at: x.at, attempt: x.attempt})
		}
		return x.at.f == f
	})
	*t = append(own, *t...)
}
