package history

import (
	"context"
	"os"
	"slices"
	"time"
)

// memoryTicket is a run's place in a Memory's line.
type memoryTicket struct {
	QueueEntry
	run  *memoryRun
	told QueuePosition
	news chan QueuePosition // the latest that its owner has not heard; one without obstacles is the last
	gone chan struct{}      // closed when it has left the line
}

// Queue implements Store.
func (m *Memory) Queue(context.Context) (Queue, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.places(), nil
}

// places is the line as the rule sees it.
func (m *Memory) places() Queue {
	line := make(Queue, len(m.line))
	for i, t := range m.line {
		line[i] = t.QueueEntry
	}
	return line
}

func (m *Memory) placeOf(r *memoryRun) int {
	return slices.IndexFunc(m.line, func(t *memoryTicket) bool { return t.run == r })
}

// leave takes a run out of the line, with what it holds.
func (m *Memory) leave(r *memoryRun) {
	if i := m.placeOf(r); i >= 0 {
		close(m.line[i].gone)
		m.line = slices.Delete(m.line, i, i+1)
		m.moveUp()
	}
}

// moveUp admits whom it may, and tells the others where they stand.
func (m *Memory) moveUp() {
	line := m.places()
	for _, i := range line.Next() {
		t := m.line[i]
		t.Held, t.Since = true, time.Now()
		line[i] = t.QueueEntry
		t.tell(QueuePosition{Run: t.Run, Since: t.told.Since})
	}
	for i, q := range line.Waiting() {
		if t := m.line[i]; !q.Equal(t.told) {
			t.tell(q)
		}
	}
}

// tell replaces news that nobody has fetched yet.
func (t *memoryTicket) tell(q QueuePosition) {
	select {
	case <-t.news:
	default:
	}
	t.told = q
	t.news <- q
}

// Admit implements Ledger.
func (l *memoryLedger) Admit(ctx context.Context, d Admission) error {
	if len(d.Demands) == 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m := l.memory
	t := &memoryTicket{run: l.run, news: make(chan QueuePosition, 1), gone: make(chan struct{}),
		QueueEntry: QueueEntry{Run: l.run.info.ID, PID: os.Getpid(), Demands: slices.Clone(d.Demands), Since: time.Now()}}
	m.mu.Lock()
	if l.run.owner != l {
		m.mu.Unlock()
		return ErrFenced
	}
	m.line = append(m.line, t)
	m.moveUp()
	m.mu.Unlock()
	for {
		select {
		case q := <-t.news:
			if len(q.Obstacles) == 0 {
				return nil
			}
			if d.Notify != nil {
				d.Notify(q)
			}
		case <-t.gone:
			return ErrFenced
		case <-ctx.Done():
			m.mu.Lock()
			defer m.mu.Unlock()
			m.leave(l.run)
			return context.Cause(ctx)
		}
	}
}
