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
	attempt int32  // the try that failed, or waits; a timer of an earlier one is out of date
	wait    uint64 // of a wait, the number of the event that told it; else 0
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

// drop takes a node's timer out, which is due then or at once.
func (t *timers) drop(at place, due time.Time) {
	for i, x := range *t {
		if x.at == at {
			*t = slices.Delete(*t, i, i+1)
			return
		}
		if x.due.After(due) {
			return
		}
	}
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
