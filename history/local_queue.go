package history

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"
)

// LocalQueue is where the runs of one process, and their steps, wait for locks, pools and max-active-runs. A Memory has
// one, and an Engine without a Store has one too. It is safe for concurrent use.
type LocalQueue struct {
	mu      sync.Mutex
	tickets []*ticket // in the order in which they joined
	rates   Rates
	paced   *time.Timer // calls admitNext when a rate lets another step start; nil for never
}

// NewLocalQueue returns an empty queue.
func NewLocalQueue() *LocalQueue { return &LocalQueue{rates: Rates{}} }

// LocalRun is a run in a LocalQueue.
type LocalRun struct {
	queue *LocalQueue
	id    string
}

// Run returns what a run waits with. Two runs with the same id have nothing in common.
func (q *LocalQueue) Run(id string) *LocalRun { return &LocalRun{q, id} }

// ticket is the place of a run, or of a step, in the queue.
type ticket struct {
	QueueEntry
	run      *LocalRun
	reported QueuePosition
	updates  chan QueuePosition // the latest position that its owner has not received; one without obstacles is the last
	left     chan struct{}      // closed when the run has left the queue
}

// all returns the queue in the form that Queue.Next needs.
func (q *LocalQueue) all() Queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.entries()
}

func (q *LocalQueue) entries() Queue {
	list := make(Queue, len(q.tickets))
	for i, t := range q.tickets {
		list[i] = t.QueueEntry
	}
	return list
}

// index returns the index of a run in the queue, without its steps.
func (q *LocalQueue) index(r *LocalRun) int {
	return slices.IndexFunc(q.tickets, func(t *ticket) bool { return t.run == r && t.Step == "" })
}

// position returns the position of a run that waits, false for others.
func (r *LocalRun) position() (QueuePosition, bool) {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	if i := r.queue.index(r); i >= 0 && !r.queue.tickets[i].Held {
		return r.queue.entries().Waiting()[i], true
	}
	return QueuePosition{}, false
}

// leave removes tickets from the queue, and with them the locks that they hold.
func (q *LocalQueue) leave(leaves func(*ticket) bool) {
	before := len(q.tickets)
	q.tickets = slices.DeleteFunc(q.tickets, func(t *ticket) bool {
		if !leaves(t) {
			return false
		}
		close(t.left)
		return true
	})
	if len(q.tickets) < before {
		q.admitNext()
	}
}

// admitNext admits those that may start, and reports the new positions to the others.
func (q *LocalQueue) admitNext() {
	queue := q.entries()
	next, again := queue.Next(time.Now(), q.rates)
	if q.paced != nil {
		q.paced.Stop()
	}
	if !again.IsZero() {
		q.paced = time.AfterFunc(time.Until(again), func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.admitNext()
		})
	}
	for _, i := range next {
		t := q.tickets[i]
		t.Held, t.Since = true, time.Now()
		queue[i] = t.QueueEntry
		t.report(QueuePosition{Run: t.Run, Step: t.Step, Since: t.reported.Since})
	}
	for i, p := range queue.Waiting() {
		if t := q.tickets[i]; !p.Equal(t.reported) {
			t.report(p)
		}
	}
}

// report sends a position to the owner. It replaces one that the owner has not received yet.
func (t *ticket) report(p QueuePosition) {
	select {
	case <-t.updates:
	default:
	}
	t.reported = p
	t.updates <- p
}

// Admit does what Ledger.Admit does. It returns ErrFenced after Close.
func (r *LocalRun) Admit(ctx context.Context, d Admission) error {
	if t := r.join(ctx, d); t != nil {
		return t.wait(ctx, d.Notify)
	}
	return context.Cause(ctx)
}

// join joins the queue. It returns nil if there is nothing to wait for.
func (r *LocalRun) join(ctx context.Context, d Admission) *ticket {
	if len(d.Demands) == 0 || ctx.Err() != nil {
		return nil
	}
	q := r.queue
	t := &ticket{run: r, updates: make(chan QueuePosition, 1), left: make(chan struct{}),
		QueueEntry: QueueEntry{Run: r.id, Step: d.Step, PID: os.Getpid(), Demands: slices.Clone(d.Demands), Priority: d.Priority, Since: time.Now()}}
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.resumesKept(t) {
		return nil
	}
	q.tickets = append(q.tickets, t)
	q.admitNext()
	return t
}

// wait waits until the ticket holds what it demands.
func (t *ticket) wait(ctx context.Context, notify func(QueuePosition)) error {
	for {
		select {
		case p := <-t.updates:
			if len(p.Obstacles) == 0 {
				return nil
			}
			if notify != nil {
				notify(p)
			}
		case <-t.left:
			return ErrFenced
		case <-ctx.Done():
			q := t.run.queue
			q.mu.Lock()
			defer q.mu.Unlock()
			q.leave(func(x *ticket) bool { return x == t })
			return context.Cause(ctx)
		}
	}
}

// resumesKept reports whether the run has kept what it asks for with t, and notes its new owner there. It gives up
// what it has kept if it asks for something else.
func (r *LocalRun) resumesKept(t *ticket) bool {
	i := r.queue.index(r)
	if t.Step != "" || i < 0 {
		return false
	}
	if kept := r.queue.tickets[i]; slices.Equal(kept.Demands, t.Demands) {
		kept.PID = t.PID
		return true
	}
	r.queue.leave(r.owns)
	return false
}

// owns reports whether a ticket belongs to the run.
func (r *LocalRun) owns(t *ticket) bool { return t.run == r }

// Leave gives back what the step with this path was admitted for. The error is always nil.
func (r *LocalRun) Leave(step string) error {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	r.queue.leave(func(t *ticket) bool { return t.run == r && t.Step == step })
	return nil
}

// suspend gives back what the run holds; with hold, only what its steps hold.
func (r *LocalRun) suspend(hold bool) {
	q := r.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leave(func(t *ticket) bool { return r.owns(t) && !(hold && t.Step == "" && t.Held) })
	if i := q.index(r); i >= 0 {
		q.tickets[i].PID = 0
	}
}

// Close gives back all that the run and its steps hold.
func (r *LocalRun) Close() {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	r.queue.leave(r.owns)
}
