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

// expire makes due at once what waits in frames that were cancelled.
func (t *timers) expire() {
	*t = front(*t, func(x timer) bool { return x.at.f.stopped != "" })
	for i := range *t {
		if (*t)[i].at.f.stopped == "" {
			break
		}
		(*t)[i].due = time.Time{}
	}
}
