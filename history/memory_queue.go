package history

import (
	"context"
	"os"
	"slices"
	"time"
)

// memoryTicket is the place of a run, or of a step, in the queue of a Memory.
type memoryTicket struct {
	QueueEntry
	run      *memoryRun
	reported QueuePosition
	updates  chan QueuePosition // the latest position that its owner has not received; one without obstacles is the last
	left     chan struct{}      // closed when the run has left the queue
}

// Queue implements Store.
func (m *Memory) Queue(context.Context) (Queue, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries(), nil
}

// entries returns the queue in the form that Queue.Next needs.
func (m *Memory) entries() Queue {
	queue := make(Queue, len(m.queue))
	for i, t := range m.queue {
		queue[i] = t.QueueEntry
	}
	return queue
}

// queueIndex returns the index of a run in the queue, without its steps.
func (m *Memory) queueIndex(r *memoryRun) int {
	return slices.IndexFunc(m.queue, func(t *memoryTicket) bool { return t.run == r && t.Step == "" })
}

// leaveQueue removes tickets from the queue, and with them the locks that they hold.
func (m *Memory) leaveQueue(leaves func(*memoryTicket) bool) {
	before := len(m.queue)
	m.queue = slices.DeleteFunc(m.queue, func(t *memoryTicket) bool {
		if !leaves(t) {
			return false
		}
		close(t.left)
		return true
	})
	if len(m.queue) < before {
		m.admitNext()
	}
}

// admitNext admits those that may start, and reports the new positions to the others.
func (m *Memory) admitNext() {
	queue := m.entries()
	next, again := queue.Next(time.Now(), m.rates)
	if m.paced != nil {
		m.paced.Stop()
	}
	if !again.IsZero() {
		m.paced = time.AfterFunc(time.Until(again), func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.admitNext()
		})
	}
	for _, i := range next {
		t := m.queue[i]
		t.Held, t.Since = true, time.Now()
		queue[i] = t.QueueEntry
		t.report(QueuePosition{Run: t.Run, Step: t.Step, Since: t.reported.Since})
	}
	for i, q := range queue.Waiting() {
		if t := m.queue[i]; !q.Equal(t.reported) {
			t.report(q)
		}
	}
}

// report sends a position to the owner. It replaces one that the owner has not received
// yet.
func (t *memoryTicket) report(q QueuePosition) {
	select {
	case <-t.updates:
	default:
	}
	t.reported = q
	t.updates <- q
}

// Admit implements Ledger.
func (l *memoryLedger) Admit(ctx context.Context, d Admission) error {
	if len(d.Demands) == 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m := l.memory
	t := &memoryTicket{run: l.run, updates: make(chan QueuePosition, 1), left: make(chan struct{}),
		QueueEntry: QueueEntry{Run: l.run.info.ID, Step: d.Step, PID: os.Getpid(), Demands: slices.Clone(d.Demands), Priority: d.Priority, Since: time.Now()}}
	m.mu.Lock()
	if l.run.owner != l {
		m.mu.Unlock()
		return ErrFenced
	}
	if l.run.resumesKept(m, t) {
		m.mu.Unlock()
		return nil
	}
	m.queue = append(m.queue, t)
	m.admitNext()
	m.mu.Unlock()
	for {
		select {
		case q := <-t.updates:
			if len(q.Obstacles) == 0 {
				return nil
			}
			if d.Notify != nil {
				d.Notify(q)
			}
		case <-t.left:
			return ErrFenced
		case <-ctx.Done():
			m.mu.Lock()
			defer m.mu.Unlock()
			m.leaveQueue(func(x *memoryTicket) bool { return x == t })
			return context.Cause(ctx)
		}
	}
}

// resumesKept reports whether the run has kept what it asks for with t, and notes its new owner there. It gives up
// what it has kept if it asks for something else.
func (r *memoryRun) resumesKept(m *Memory, t *memoryTicket) bool {
	i := m.queueIndex(r)
	if t.Step != "" || i < 0 {
		return false
	}
	if slices.Equal(m.queue[i].Demands, t.Demands) {
		m.queue[i].PID = t.PID
		return true
	}
	m.leaveQueue(r.owns)
	return false
}

// Leave implements Ledger.
func (l *memoryLedger) Leave(step string) error {
	m := l.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.run.owner == l {
		m.leaveQueue(func(t *memoryTicket) bool { return t.run == l.run && t.Step == step })
	}
	return nil
}
