package history

import (
	"context"
	"os"
	"slices"
	"time"
)

// memoryTicket is a run's place in a Memory's line.
type memoryTicket struct {
	Place
	run  *memoryRun
	told Queued
	news chan Queued   // the latest that its owner has not heard; one without obstacles is the last
	gone chan struct{} // closed when it has left the line
}

// Line implements Store.
func (m *Memory) Line(context.Context) (Line, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.places(), nil
}

// places is the line as the rule sees it.
func (m *Memory) places() Line {
	line := make(Line, len(m.line))
	for i, t := range m.line {
		line[i] = t.Place
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
		line[i] = t.Place
		t.tell(Queued{Run: t.Run, Since: t.told.Since})
	}
	for i, q := range line.Waiting() {
		if t := m.line[i]; !q.Equal(t.told) {
			t.tell(q)
		}
	}
}

// tell replaces news that nobody has fetched yet.
func (t *memoryTicket) tell(q Queued) {
	select {
	case <-t.news:
	default:
	}
	t.told = q
	t.news <- q
}

// Admit implements Ledger.
func (l *memoryLedger) Admit(ctx context.Context, d Demand) error {
	if len(d.Needs) == 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m := l.memory
	t := &memoryTicket{run: l.run, news: make(chan Queued, 1), gone: make(chan struct{}),
		Place: Place{Run: l.run.info.ID, PID: os.Getpid(), Needs: slices.Clone(d.Needs), Since: time.Now()}}
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
			if d.Tell != nil {
				d.Tell(q)
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
