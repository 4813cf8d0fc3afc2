package dag

import "sync"

// Slots bounds how many leaves run at once, over any number of runs. Runs that
// find no free slot are served in turn, one slot each, so that a wide run cannot
// starve others. Safe for concurrent use.
type Slots struct {
	mu    sync.Mutex
	all   int
	free  int
	queue []*ticket
}

// NewSlots makes n slots, at least one.
func NewSlots(n int) *Slots { return &Slots{all: max(n, 1), free: max(n, 1)} }

// Load is how many leaves run and how many could if there were slots for them.
func (s *Slots) Load() (running, queued int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.queue {
		queued += max(t.want-t.granted, 0)
	}
	return s.all - s.free, queued
}

// ticket is one run's place in the queue.
type ticket struct {
	wake    chan<- struct{}
	granted int
	want    int // beyond what it has been given
	queued  bool
}

// take says that the ticket wants that many slots and answers how many of them it
// gets now. While it gets fewer it stands in the queue, and its wake is sent a
// token when it has been granted more; what it was granted and does not want any
// more goes to the next in turn.
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
	switch {
	case got >= want:
		s.dequeue(t)
		s.grant(got - want)
		return want
	case !t.queued:
		t.queued = true
		s.queue = append(s.queue, t)
	}
	t.want = want - got
	return got
}

// give returns n slots.
func (s *Slots) give(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grant(n)
}

// grant hands slots to those that queue, one each. The lock is held.
func (s *Slots) grant(n int) {
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

func (s *Slots) dequeue(t *ticket) {
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
