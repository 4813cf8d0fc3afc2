package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
)

// maxPollFactor bounds how long those far back in the line leave between two looks, in
// units of lookEvery.
const maxPollFactor = 10

// localQueue are the runs of this process that stand in line.
type localQueue struct {
	mu      sync.Mutex
	waiters map[int64]*waiter // by the run's number
	changed chan struct{}     // the line may have been changed by this process
}

// waiter is a run of this process that stands in line.
type waiter struct {
	reported   history.QueuePosition      // what its ledger knows, or will
	updates    chan history.QueuePosition // the latest; without obstacles: its turn has come
	left       chan struct{}              // closed when it has left the line
	leftClosed bool
}

func newQueue() localQueue {
	return localQueue{waiters: map[int64]*waiter{}, changed: make(chan struct{}, 1)}
}

// notifyChanged has tend look at the line at once. It says nothing of what others do, which
// SQLite's data_version tells.
func (q *localQueue) notifyChanged() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

func (q *localQueue) add(run int64) *waiter {
	w := &waiter{updates: make(chan history.QueuePosition, 1), left: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters[run] = w
	return w
}

func (q *localQueue) remove(run int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waiters, run)
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
	op := "stand in line with run " + l.id
	if err := l.usable(); err != nil {
		return fmt.Errorf("cannot %s: %w", op, err)
	}
	admitted, err := l.joinQueue(ctx, op, d.Demands)
	if err != nil || admitted {
		return err
	}
	w := l.store.queue.add(l.run)
	defer l.store.queue.remove(l.run)
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
		case <-l.store.stop:
			return fmt.Errorf("cannot %s: the history was closed", op)
		case <-ctx.Done():
			err := l.store.write(context.WithoutCancel(ctx), op, func(ctx context.Context, c *sql.Conn) error {
				return l.store.leaveQueue(ctx, c, l.run, l.epoch)
			})
			l.store.queue.notifyChanged()
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// joinQueue puts the run at the end of the line, and says whether it was admitted at once.
func (l *ledger) joinQueue(ctx context.Context, op string, demands []history.LockDemand) (admitted bool, err error) {
	text, err := json.Marshal(demands)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	l.queued = true
	l.mu.Unlock()
	passPoint("admit-before")
	err = l.store.write(ctx, op, func(ctx context.Context, c *sql.Conn) error {
		res, err := c.ExecContext(ctx, `INSERT OR REPLACE INTO tickets (run, epoch, needs, held, since)
			SELECT n, epoch, ?, 0, ? FROM runs WHERE n = ? AND epoch = ?`, string(text), time.Now().UnixNano(), l.run, l.epoch)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, fmt.Errorf("cannot %s: %w", op, history.ErrFenced))
		}
		if err := l.store.admitNext(ctx, c); err != nil {
			return err
		}
		return c.QueryRowContext(ctx, "SELECT held FROM tickets WHERE run = ?", l.run).Scan(&admitted)
	})
	passPoint("admit-after")
	return admitted, err
}

// pollQueue looks after the runs of this process that stand in line: one look for all of
// them. Who leaves the line admits the next in the same transaction, so that a look only
// has to find that out; and whoever is right behind a process that dies takes its ticket
// away. The farther back the runs stand, the longer it leaves between two looks.
func (s *Store) pollQueue() {
	t := queuePoller{store: s, dataVersion: -1}
	for {
		var tick <-chan time.Time
		if !s.queue.empty() {
			tick = time.After(t.interval())
		}
		stirred := false
		select {
		case <-s.stop:
			return
		case <-s.queue.changed:
			stirred = true
		case <-tick:
		}
		if !s.queue.empty() {
			t.poll(stirred) // what fails is tried again at the next look
		}
	}
}

// queuePoller is what tend knows of the line.
type queuePoller struct {
	store         *Store
	dataVersion   int64            // data_version of the last look
	fingerprint   queueFingerprint // of the line then
	watchedOwners map[owner]bool
	ahead         int // of the foremost run of this process
}

// queueFingerprint tells lines apart: whoever comes makes last greater, whoever leaves makes all
// smaller, and whoever is admitted makes held greater.
type queueFingerprint struct{ all, held, last int64 }

func (t *queuePoller) interval() time.Duration {
	return queuePollEvery * time.Duration(min(1+t.ahead, maxPollFactor))
}

func (t *queuePoller) poll(stirred bool) {
	ctx := context.Background()
	version, err := t.store.changes()
	if err != nil {
		return
	}
	changed := stirred
	if version != t.dataVersion && !stirred {
		now, err := t.store.queueFingerprint(ctx)
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

// queueFingerprint reads what tells lines apart.
func (s *Store) queueFingerprint(ctx context.Context) (m queueFingerprint, err error) {
	err = s.reads.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(held), 0), coalesce(max(n), 0) FROM tickets").Scan(&m.all, &m.held, &m.last)
	return m, err
}

// watchedOwnerGone says whether one of those is gone whom a run of this process stands right
// behind.
func (t *queuePoller) watchedOwnerGone() bool {
	for o := range t.watchedOwners {
		if gone, _ := o.gone(); gone {
			return true
		}
	}
	return false
}

// reportPositions reads the line and tells every run of this process where it stands.
func (t *queuePoller) reportPositions(ctx context.Context) error {
	q := &t.store.queue
	q.mu.Lock() // first: who is in waiters then has a ticket
	defer q.mu.Unlock()
	list, err := t.readQueue(ctx)
	if err != nil {
		return err
	}
	waiting := queueOf(list).Waiting()
	standing := map[int64]bool{}
	owners := map[string]owner{}
	t.watchedOwners, t.ahead = map[owner]bool{}, maxPollFactor
	for i := range list {
		owners[list[i].Run] = list[i].owner
		w := q.waiters[list[i].run]
		if w == nil {
			continue
		}
		standing[list[i].run] = true
		if list[i].Held {
			w.report(history.QueuePosition{Run: list[i].Run})
			continue
		}
		t.watchOwners(waiting[i], owners)
		if !waiting[i].Equal(w.reported) {
			w.report(waiting[i])
		}
	}
	for run, w := range q.waiters {
		if !standing[run] && !w.leftClosed {
			w.leftClosed = true
			close(w.left)
		}
	}
	return nil
}

// readQueue reads the line, without the tickets of the dead.
func (t *queuePoller) readQueue(ctx context.Context) ([]ticket, error) {
	list, err := readTickets(ctx, t.store.reads)
	if err == nil && slices.ContainsFunc(list, func(t ticket) bool { return t.dead }) {
		if err = t.store.write(ctx, "look after the line", t.store.admitNext); err == nil {
			list, err = readTickets(ctx, t.store.reads)
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

// watchOwners notes whose death would concern a run that waits: who has what it needs, or who
// stands right before it.
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

// report replaces news that nobody has fetched yet.
func (w *waiter) report(q history.QueuePosition) {
	select {
	case <-w.updates:
	default:
	}
	w.reported = q
	w.updates <- q
}
