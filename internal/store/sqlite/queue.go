package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
)

// maxPollFactor limits the time between two polls for runs far back in the queue, in units
// of queuePollEvery.
const maxPollFactor = 10

// localQueue holds the runs of this process that wait in the queue.
type localQueue struct {
	db      *db
	mu      sync.Mutex
	waiters map[int64]*waiter // by the number of the ticket
	changed chan struct{}     // holds one after this process may have changed the queue
}

// waiter is a run of this process that waits in the queue.
type waiter struct {
	reported   history.QueuePosition      // the last position that was sent to updates
	updates    chan history.QueuePosition // the latest position; without obstacles it means admitted
	left       chan struct{}              // closed when the run has left the queue
	leftClosed bool
}

func newQueue(d *db) *localQueue {
	return &localQueue{db: d, waiters: map[int64]*waiter{}, changed: make(chan struct{}, 1)}
}

// notifyChanged makes pollLoop poll immediately. It is only for changes by this process,
// because SQLite's data_version does not show those.
func (q *localQueue) notifyChanged() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

func (q *localQueue) add(ticket int64) *waiter {
	w := &waiter{updates: make(chan history.QueuePosition, 1), left: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters[ticket] = w
	return w
}

func (q *localQueue) remove(ticket int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waiters, ticket)
}

func (q *localQueue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiters) == 0
}

// Admit implements history.Ledger.
func (l *ledger) Admit(ctx context.Context, d history.Admission) error {
	if len(d.Demands) == 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	op := "queue run " + l.id
	if d.Step != "" {
		op = "queue step " + d.Step
	}
	if err := l.usable(); err != nil {
		return fmt.Errorf("cannot %s: %w", op, err)
	}
	n, admitted, err := l.joinQueue(ctx, op, d)
	if err != nil || admitted {
		l.store.queue.notifyChanged() // the run may have had something else until now
		return err
	}
	w := l.store.queue.add(n)
	defer l.store.queue.remove(n)
	l.store.queue.notifyChanged()
	for {
		select {
		case q := <-w.updates:
			if len(q.Obstacles) == 0 {
				return nil
			}
			if d.Notify != nil {
				d.Notify(q)
			}
		case <-w.left:
			l.fence()
			return fmt.Errorf("cannot %s: %w", op, history.ErrFenced)
		case <-l.lost:
			return fmt.Errorf("cannot %s: %w", op, history.ErrFenced)
		case <-l.store.db.stop:
			return fmt.Errorf("cannot %s: the history was closed", op)
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), l.leave(op, d.Step))
		}
	}
}

// Leave implements history.Ledger.
func (l *ledger) Leave(step string) error { return l.leave("give back the slots of step "+step, step) }

// leave removes the ticket of the run, or of a step.
func (l *ledger) leave(op, step string) error {
	err := l.store.db.write(context.Background(), op, func(ctx context.Context, c *conn) error {
		return dropTickets(ctx, c, "run = ? AND step = ? AND epoch = ?", l.run, step, l.epoch)
	})
	l.store.queue.notifyChanged()
	return err
}

// convertedDemands returns demands with their names and files encoded or decoded.
func convertedDemands(list []history.LockDemand, text func(string) string) []history.LockDemand {
	list = slices.Clone(list)
	for i := range list {
		list[i].Name, list[i].File = text(list[i].Name), text(list[i].File)
	}
	return list
}

// joinQueue puts the run, or a step, at the end of the queue, and reports whether it was
// admitted immediately. n is the number of its ticket.
func (l *ledger) joinQueue(ctx context.Context, op string, d history.Admission) (n int64, admitted bool, err error) {
	text, err := json.Marshal(convertedDemands(d.Demands, rawtext.Encode))
	if err != nil {
		return 0, false, err
	}
	l.mu.Lock()
	l.queued = true
	l.mu.Unlock()
	passPoint("admit-before")
	err = l.store.db.write(ctx, op, func(ctx context.Context, c *conn) error {
		if admitted, err = l.hasKept(ctx, c, d.Step, string(text)); err != nil || admitted {
			return err
		}
		res, err := c.ExecContext(ctx, `INSERT OR REPLACE INTO tickets (run, step, epoch, priority, needs, held, since)
			SELECT n, ?, epoch, ?, ?, 0, ? FROM runs WHERE n = ? AND epoch = ?`, d.Step, d.Priority, string(text), time.Now().UnixNano(), l.run, l.epoch)
		if err != nil {
			return err
		}
		if rows, err := res.RowsAffected(); err != nil || rows == 0 {
			return errors.Join(err, fmt.Errorf("cannot %s: %w", op, history.ErrFenced))
		}
		if n, err = res.LastInsertId(); err != nil {
			return err
		}
		if err := admitNext(ctx, c); err != nil {
			return err
		}
		return c.QueryRowContext(ctx, "SELECT held FROM tickets WHERE n = ?", n).Scan(&admitted)
	})
	passPoint("admit-after")
	return n, admitted, err
}

// pollLoop polls the queue for the runs of this process that wait in it, all with one
// query. A run that leaves the queue admits the next one in the same transaction, so a poll
// only has to notice that. If a process ends, the process of a run directly behind it
// removes the ticket. The further back the runs are, the longer the time between two polls.
func (q *localQueue) pollLoop() {
	t := queuePoller{localQueue: q, dataVersion: -1}
	for {
		var tick <-chan time.Time
		if !q.empty() {
			tick = time.After(t.interval())
		}
		notified := false
		select {
		case <-q.db.stop:
			return
		case <-q.changed:
			notified = true
		case <-tick:
		}
		if !q.empty() {
			t.poll(notified) // if it fails, the next poll tries again
		}
	}
}

// queuePoller is the state of pollLoop.
type queuePoller struct {
	*localQueue
	dataVersion   int64            // data_version at the last poll
	fingerprint   queueFingerprint // of the queue at the last poll
	watchedOwners map[owner]bool
	paced         time.Time // when a rate lets the next one start; zero: no rate keeps one from it
	ahead         int       // how many runs wait before the foremost run of this process
}

// queueFingerprint changes whenever the queue does: a run that joins increases last, one
// that leaves decreases all, and one that is admitted increases held.
type queueFingerprint struct{ all, held, last int64 }

func (t *queuePoller) interval() time.Duration {
	d := queuePollEvery * time.Duration(min(1+t.ahead, maxPollFactor))
	if !t.paced.IsZero() {
		d = min(d, max(time.Until(t.paced), 0))
	}
	return d
}

func (t *queuePoller) poll(notified bool) {
	ctx := context.Background()
	version, err := t.db.changes()
	if err != nil {
		return
	}
	changed := notified
	if !t.paced.IsZero() && !time.Now().Before(t.paced) {
		if t.db.write(ctx, "update the queue", admitNext) != nil {
			return
		}
		changed = true
	}
	if version != t.dataVersion && !notified {
		now, err := t.readFingerprint(ctx)
		if err != nil {
			return
		}
		changed = now != t.fingerprint
	}
	if (changed || t.watchedOwnerGone()) && t.reportPositions(ctx) != nil {
		return
	}
	t.dataVersion = version
}

// readFingerprint reads the fingerprint of the queue.
func (q *localQueue) readFingerprint(ctx context.Context) (m queueFingerprint, err error) {
	err = q.db.reads.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(held), 0), coalesce(max(n), 0) FROM tickets").Scan(&m.all, &m.held, &m.last)
	return m, err
}

// watchedOwnerGone reports whether an owner has gone for which a run of this process waits
// directly.
func (t *queuePoller) watchedOwnerGone() bool {
	for o := range t.watchedOwners {
		if gone, _ := o.gone(); gone {
			return true
		}
	}
	return false
}

// reportPositions reads the queue and reports its position to every run of this process.
func (t *queuePoller) reportPositions(ctx context.Context) error {
	t.mu.Lock() // locked first, so that every run in waiters has a ticket when the queue is read
	defer t.mu.Unlock()
	list, err := t.readQueue(ctx)
	if err != nil {
		return err
	}
	queue := queueOf(list)
	if t.paced, err = t.nextByRate(ctx, queue); err != nil {
		return err
	}
	waiting := queue.Waiting()
	inQueue := map[int64]bool{}
	owners := map[string]owner{}
	t.watchedOwners, t.ahead = map[owner]bool{}, maxPollFactor
	for i := range list {
		owners[list[i].Run] = list[i].owner
		w := t.waiters[list[i].n]
		if w == nil {
			continue
		}
		inQueue[list[i].n] = true
		if list[i].Held {
			w.report(history.QueuePosition{Run: list[i].Run, Step: list[i].Step})
			continue
		}
		t.watchOwners(waiting[i], owners)
		if !waiting[i].Equal(w.reported) {
			w.report(waiting[i])
		}
	}
	for n, w := range t.waiters {
		if !inQueue[n] && !w.leftClosed {
			w.leftClosed = true
			close(w.left)
		}
	}
	return nil
}

// nextByRate returns when a rate lets another step start, zero if none waits for a rate.
func (t *queuePoller) nextByRate(ctx context.Context, queue history.Queue) (time.Time, error) {
	rates, err := readRates(ctx, t.db.reads, queue)
	if err != nil || len(rates) == 0 {
		return time.Time{}, err
	}
	now := time.Now()
	next, again := queue.Next(now, rates)
	if len(next) > 0 {
		return now, nil
	}
	return again, nil
}

// readQueue reads the queue, after removing the tickets of dead owners.
func (t *queuePoller) readQueue(ctx context.Context) ([]ticket, error) {
	list, err := readTickets(ctx, t.db.reads)
	if err == nil && slices.ContainsFunc(list, func(t ticket) bool { return t.dead }) {
		if err = t.db.write(ctx, "update the queue", admitNext); err == nil {
			list, err = readTickets(ctx, t.db.reads)
		}
	}
	if err != nil {
		return nil, err
	}
	t.fingerprint = queueFingerprint{}
	for i := range list {
		t.fingerprint.all++
		t.fingerprint.last = list[i].n
		if list[i].Held {
			t.fingerprint.held++
		}
	}
	return liveTickets(list), nil
}

// watchOwners adds the owners whose death would let a waiting run move on: those that hold
// what it needs, or the one directly before it.
func (t *queuePoller) watchOwners(q history.QueuePosition, owners map[string]owner) {
	ahead := 0
	for _, o := range q.Obstacles {
		ahead = max(ahead, o.Ahead)
		if o.Ahead > 0 {
			t.watchedOwners[owners[o.Behind]] = true
			continue
		}
		for _, h := range o.Holders {
			t.watchedOwners[owners[h.Run]] = true
		}
	}
	t.ahead = min(t.ahead, ahead)
}

// report sends a position to the run. It replaces one that the run has not received yet.
func (w *waiter) report(q history.QueuePosition) {
	select {
	case <-w.updates:
	default:
	}
	w.reported = q
	w.updates <- q
}
