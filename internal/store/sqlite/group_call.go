package sqlite

import "sync"

// groupCall lets many callers share one call. Callers that come while a call is running are
// served together by the next call, so that no caller gets a result older than its request.
// If a thousand schedules are due in the same second, they need a few commits instead of a
// thousand.
type groupCall[In, Out any] struct {
	mu      sync.Mutex
	waiting []*groupCaller[In, Out]
	running bool
}

// groupCaller is one caller of do.
type groupCaller[In, Out any] struct {
	in    In
	out   Out
	err   error
	leads bool // it executes the next batch
	done  chan struct{}
}

// do takes part in the next batch. One caller of the batch calls the function do, with the
// inputs of all; do returns the results in the same order.
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

// runBatch executes the batch of those who wait now, and makes one of those who came later
// execute the next.
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
		if !t.leads { // it was woken already
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
