package dag

import (
	"slices"
	"time"
)

// timers are places sorted by due time, earliest first.
type timers []timer

type timer struct {
	due     time.Time
	at      place
	attempt int32  // the attempt that failed or waits; the timer of an earlier attempt is obsolete
	wait    uint64 // for a wait, the number of its step.waiting event; else 0
}

func (t *timers) add(n timer) {
	i, _ := slices.BinarySearchFunc(*t, n.due, func(x timer, d time.Time) int {
		if x.due.After(d) {
			return 1
		}
		return -1 // entries with equal times keep their order
	})
	*t = slices.Insert(*t, i, n)
}

// remove removes the timer of a node. Its due time is the given one, or earlier after a
// cancel.
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

// reschedule sets the due time of every timer.
func (t timers) reschedule(due func(timer) time.Time) {
	for i := range t {
		t[i].due = due(t[i])
	}
	slices.SortStableFunc(t, func(a, b timer) int { return a.due.Compare(b.due) })
}

// current reports whether the timer still applies: its node has that status, in the same
// attempt.
func (t timer) current(status Status) bool {
	n := t.at.f.node(t.at.i)
	return n.status == status && n.attempt == t.attempt
}

// addTimer queues a timer. If the frame has no arguments yet, because the run was resumed,
// the timer waits for them.
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

// retryDue returns when to decide about the next attempt of a node: at its due time, or
// immediately after a cancel, which ends it.
func (at place) retryDue(due time.Time) time.Time {
	if at.f.stopped != "" {
		return time.Time{}
	}
	return due
}

// waitDue returns when to decide about a node that waits: when its time has come; after a
// cancel immediately, unless the node outlasts the cancel. A question does not outlast one,
// since it will not be answered any more.
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
