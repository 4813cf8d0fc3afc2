package dag

import "sync"

// Slots bounds how many leaves run at once, over any number of runs. Runs that
// find no free slot are served in turn, one slot each, so that a wide run cannot
// starve others. Safe for concurrent use.
type Slots struct {
	mu    sync.Mutex
	free  int
	queue []*ticket
}

// NewSlots makes n slots, at least one.
func NewSlots(n int) *Slots { return &Slots{free: max(n, 1)} }

// ticket is one run's place in the queue.
type ticket struct {
	wake    chan<- struct{}
	granted int
	queued  bool
}

// take gets up to want slots and queues the ticket when it gets fewer.
func (s *Slots) take(t *ticket, want int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := t.granted
	t.granted = 0
	if len(s.queue) == 0 && got < want {
		n := min(s.free, want-got)
		s.free -= n
		got += n
	}
	if got < want && !t.queued {
		t.queued = true
		s.queue = append(s.queue, t)
	}
	return got
}

// give returns n slots. done says that the ticket wants none for now: without
// that its own slots would be handed straight back to it.
func (s *Slots) give(t *ticket, n int, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if done {
		n += t.granted
		t.granted = 0
		s.leave(t)
	}
	for ; n > 0 && len(s.queue) > 0; n-- {
		next := s.queue[0]
		s.queue = s.queue[1:]
		next.queued = false
		next.granted++
		select {
		case next.wake <- struct{}{}:
		default: // already woken
		}
	}
	s.free += n
}

func (s *Slots) leave(t *ticket) {
	if !t.queued {
		return
	}
	t.queued = false
	for i, q := range s.queue {
		if q == t {
			s.queue = append(s.queue[:i], s.queue[i+1:]...)
			return
		}
	}
}
