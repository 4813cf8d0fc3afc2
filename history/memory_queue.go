package history

import (
	"context"
	"os"
	"slices"
	"time"
)

// memoryTicket is the place of a run in the queue of a Memory.
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

func (m *Memory) queueIndex(r *memoryRun) int {
	return slices.IndexFunc(m.queue, func(t *memoryTicket) bool { return t.run == r })
}

// leaveQueue removes a run from the queue, and with it the locks that it holds.
func (m *Memory) leaveQueue(r *memoryRun) {
	if i := m.queueIndex(r); i >= 0 {
		close(m.queue[i].left)
		m.queue = slices.Delete(m.queue, i, i+1)
		m.admitNext()
	}
}

// admitNext admits the runs that may start, and reports the new positions to the others.
func (m *Memory) admitNext() {
	queue := m.entries()
	for _, i := range queue.Next() {
		t := m.queue[i]
		t.Held, t.Since = true, time.Now()
		queue[i] = t.QueueEntry
		t.report(QueuePosition{Run: t.Run, Since: t.reported.Since})
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
		QueueEntry: QueueEntry{Run: l.run.info.ID, PID: os.Getpid(), Demands: slices.Clone(d.Demands), Since: time.Now()}}
	m.mu.Lock()
	if l.run.owner != l {
		m.mu.Unlock()
		return ErrFenced
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
			m.leaveQueue(l.run)
			return context.Cause(ctx)
		}
	}
}
