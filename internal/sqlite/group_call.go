package sqlite

import "sync"

// groupCall lets many callers share one piece of work: who comes while one is under way is
// served by the next, so that nobody is given an answer older than the question. A
// thousand schedules that are due in one second so need a few commits and not a thousand.
type groupCall[In, Out any] struct {
	mu      sync.Mutex
	waiting []*groupCaller[In, Out]
	running bool
}

// groupCaller is one caller's place in a round.
type groupCaller[In, Out any] struct {
	in    In
	out   Out
	err   error
	leads bool // do the next round
	done  chan struct{}
}

// do takes part in the next round; do answers all who do, in their order. One of them
// calls it, for all.
func (r *groupCall[In, Out]) do(in In, do func([]In) ([]Out, error)) (Out, error) {
	t := &groupCaller[In, Out]{in: in, done: make(chan struct{})}
	r.mu.Lock()
	r.waiting = append(r.waiting, t)
	lead := !r.running
	r.running = true
	r.mu.Unlock()
	if !lead {
		if <-t.done; !t.leads {
			return t.out, t.err
		}
	}
	r.runBatch(do)
	return t.out, t.err
}

// runBatch does the round of those who wait now, and hands the next one on.
func (r *groupCall[In, Out]) runBatch(do func([]In) ([]Out, error)) {
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
		if !t.leads { // or it has been woken
			close(t.done)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running = len(r.waiting) > 0; r.running {
		next := r.waiting[0]
		next.leads = true
		close(next.done)
	}
}
