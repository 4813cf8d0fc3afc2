package dag

import "sync"

// Slots limits how many leaves run at the same time, across any number of runs. Runs that
// wait for slots get one each, in order, so that a run with many steps cannot starve others.
// Safe for concurrent use.
type Slots struct {
	mu    sync.Mutex
	all   int
	free  int
	queue []*ticket
}

// NewSlots makes n slots, at least one.
func NewSlots(n int) *Slots { return &Slots{all: max(n, 1), free: max(n, 1)} }

// Size returns how many slots there are.
func (s *Slots) Size() int { return s.all }

// Load returns how many leaves run, and how many more could run if there were slots for
// them.
func (s *Slots) Load() (running, queued int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.queue {
		queued += max(t.want-t.granted, 0)
	}
	return s.all - s.free, queued
}

// ticket is the place of one run in the queue. It is the slotSource of the run.
type ticket struct {
	slots   *Slots
	wake    chan<- struct{}
	granted int
	want    int // beyond what it was granted
	queued  bool
	waits   bool // it may be queued: the last take got less than it wanted
}

// take requests want slots and returns how many of them the run gets now. If it gets fewer,
// the ticket waits in the queue, and its wake receives a token when more are granted. Slots
// that were granted and are no longer wanted go to the next run.
func (t *ticket) take(want int) int {
	if want == 0 && !t.waits {
		return 0
	}
	got := t.slots.take(t, want)
	t.waits = got < want
	return got
}

func (t *ticket) give(n int) { t.slots.give(n) }

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

// grant gives slots to the tickets in the queue, one each. The caller holds the lock.
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
