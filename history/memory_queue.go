package history

import "context"

// Queue implements Store.
func (m *Memory) Queue(context.Context) (Queue, error) { return m.queue.all(), nil }

// Admit implements Ledger.
func (l *memoryLedger) Admit(ctx context.Context, d Admission) error {
	l.memory.mu.Lock()
	if l.run.owner != l {
		l.memory.mu.Unlock()
		return ErrFenced
	}
	t := l.run.place.join(ctx, d)
	l.memory.mu.Unlock()
	if t == nil {
		return context.Cause(ctx)
	}
	return t.wait(ctx, d.Notify)
}

// Leave implements Ledger.
func (l *memoryLedger) Leave(step string) error {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	if l.run.owner != l {
		return nil
	}
	return l.run.place.Leave(step)
}
