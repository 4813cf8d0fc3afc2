package sqlite

import "sync"

// round lets many callers share one piece of work: who comes while one is under way is
// served by the next, so that nobody is given an answer older than the question. A
// thousand schedules that are due in one second so need a few commits and not a thousand.
type round[In, Out any] struct {
	mu      sync.Mutex
	waiting []*seat[In, Out]
	busy    bool
}

// seat is one caller's place in a round.
type seat[In, Out any] struct {
	in   In
	out  Out
	err  error
	lead bool // do the next round
	done chan struct{}
}

// ask takes part in the next round; do answers all who do, in their order. One of them
// calls it, for all.
func (r *round[In, Out]) ask(in In, do func([]In) ([]Out, error)) (Out, error) {
	t := &seat[In, Out]{in: in, done: make(chan struct{})}
	r.mu.Lock()
	r.waiting = append(r.waiting, t)
	lead := !r.busy
	r.busy = true
	r.mu.Unlock()
	if !lead {
		if <-t.done; !t.lead {
			return t.out, t.err
		}
	}
	r.hold(do)
	return t.out, t.err
}

// hold does the round of those who wait now, and hands the next one on.
func (r *round[In, Out]) hold(do func([]In) ([]Out, error)) {
	r.mu.Lock()
	now := r.waiting
	r.waiting = nil
	r.mu.Unlock()
	list := make([]In, len(now))
	for i, t := range now {
		list[i] = t.in
	}
	answers, err := do(list)
	for i, t := range now {
		if t.err = err; err == nil {
			t.out = answers[i]
		}
		if !t.lead { // or it has been woken
			close(t.done)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy = len(r.waiting) > 0; r.busy {
		next := r.waiting[0]
		next.lead = true
		close(next.done)
	}
}
