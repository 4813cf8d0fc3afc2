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

// remove takes a node's timer out, which is due then or at once.
func (t *timers) remove(at place, due time.Time) {
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

// reschedule gives each timer another time.
func (t timers) reschedule(due func(timer) time.Time) {
	for i := range t {
		t[i].due = due(t[i])
	}
	slices.SortStableFunc(t, func(a, b timer) int { return a.due.Compare(b.due) })
}

// current says that what the timer is for has not been overtaken: its node is still in
// that state, of the same try.
func (t timer) current(status Status) bool {
	n := t.at.f.node(t.at.i)
	return n.status == status && n.attempt == t.attempt
}

// addTimer queues a timer. Where the frame has no arguments yet, which is so when the run
// was taken over from a journal, it waits for these.
func (s *State) addTimer(t timer) {
	switch {
	case !t.at.f.bound:
		t.at.f.pendingTimers = append(t.at.f.pendingTimers, t)
	case t.wait == 0 && t.current(Retrying):
		t.due = t.at.retryDue(t.due)
		s.retries.add(t)
	case t.wait != 0 && t.current(Waiting):
		t.due = t.at.waitDue()
		s.waits.add(t)
	}
}

// retryDue is when the next try of a node is to be looked at: when it is due, or at once
// after a cancel, which it does not outlive.
func (at place) retryDue(due time.Time) time.Time {
	if at.f.stopped != "" {
		return time.Time{}
	}
	return due
}

// waitDue is when to look at a node that waits: when its time is over, or after a cancel
// at once, unless that does not stop it. Nobody answers a question then.
func (at place) waitDue() time.Time {
	n := at.f.node(at.i)
	switch w := n.res.Wait; {
	case at.f.stopped == "":
		return w.due()
	case n.outlasts && !w.Asks:
		return sooner(w.Until, at.f.cleanupDeadline)
	}
	return time.Time{}
}
