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

// maxPatience bounds how long those far back in the line leave between two looks, in
// units of lookEvery.
const maxPatience = 10

// queue are the runs of this process that stand in line.
type queue struct {
	mu      sync.Mutex
	waiters map[int64]*waiter // by the run's number
	stirred chan struct{}     // the line may have been changed by this process
}

// waiter is a run of this process that stands in line.
type waiter struct {
	told history.QueuePosition      // what its ledger knows, or will
	news chan history.QueuePosition // the latest; without obstacles: its turn has come
	gone chan struct{}              // closed when it has left the line
	left bool
}

func newQueue() queue {
	return queue{waiters: map[int64]*waiter{}, stirred: make(chan struct{}, 1)}
}

// stir has tend look at the line at once. It says nothing of what others do, which
// SQLite's data_version tells.
func (q *queue) stir() {
	select {
	case q.stirred <- struct{}{}:
	default:
	}
}

func (q *queue) add(run int64) *waiter {
	w := &waiter{news: make(chan history.QueuePosition, 1), gone: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters[run] = w
	return w
}

func (q *queue) remove(run int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waiters, run)
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiters) == 0
}

// Admit implements history.Ledger.
func (l *ledger) Admit(ctx context.Context, d history.Admission) error {
	if len(d.Demands) == 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	doing := "stand in line with run " + l.id
	if err := l.usable(); err != nil {
		return fmt.Errorf("cannot %s: %w", doing, err)
	}
	admitted, err := l.enter(ctx, doing, d.Demands)
	if err != nil || admitted {
		return err
	}
	w := l.store.queue.add(l.run)
	defer l.store.queue.remove(l.run)
	l.store.queue.stir()
	for {
		select {
		case q := <-w.news:
			if len(q.Obstacles) == 0 {
				return nil
			}
			if d.Notify != nil {
				d.Notify(q)
			}
		case <-w.gone:
			l.fence()
			return fmt.Errorf("cannot %s: %w", doing, history.ErrFenced)
		case <-l.lost:
			return fmt.Errorf("cannot %s: %w", doing, history.ErrFenced)
		case <-l.store.stop:
			return fmt.Errorf("cannot %s: the history was closed", doing)
		case <-ctx.Done():
			err := l.store.write(context.WithoutCancel(ctx), doing, func(ctx context.Context, c *sql.Conn) error {
				return l.store.leave(ctx, c, l.run, l.epoch)
			})
			l.store.queue.stir()
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// enter puts the run at the end of the line, and says whether it was admitted at once.
func (l *ledger) enter(ctx context.Context, doing string, needs []history.LockDemand) (admitted bool, err error) {
	text, err := json.Marshal(needs)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	l.queued = true
	l.mu.Unlock()
	pass("admit-before")
	err = l.store.write(ctx, doing, func(ctx context.Context, c *sql.Conn) error {
		res, err := c.ExecContext(ctx, `INSERT OR REPLACE INTO tickets (run, epoch, needs, held, since)
			SELECT n, epoch, ?, 0, ? FROM runs WHERE n = ? AND epoch = ?`, string(text), time.Now().UnixNano(), l.run, l.epoch)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, fmt.Errorf("cannot %s: %w", doing, history.ErrFenced))
		}
		if err := l.store.moveUp(ctx, c); err != nil {
			return err
		}
		return c.QueryRowContext(ctx, "SELECT held FROM tickets WHERE run = ?", l.run).Scan(&admitted)
	})
	pass("admit-after")
	return admitted, err
}

// tend looks after the runs of this process that stand in line: one look for all of
// them. Who leaves the line admits the next in the same transaction, so that a look only
// has to find that out; and whoever is right behind a process that dies takes its ticket
// away. The farther back the runs stand, the longer it leaves between two looks.
func (s *Store) tend() {
	t := tender{store: s, seen: -1}
	for {
		var tick <-chan time.Time
		if !s.queue.empty() {
			tick = time.After(t.pause())
		}
		stirred := false
		select {
		case <-s.stop:
			return
		case <-s.queue.stirred:
			stirred = true
		case <-tick:
		}
		if !s.queue.empty() {
			t.look(stirred) // what fails is tried again at the next look
		}
	}
}

// tender is what tend knows of the line.
type tender struct {
	store   *Store
	seen    int64 // data_version of the last look
	mark    mark  // of the line then
	watched map[owner]bool
	ahead   int // of the foremost run of this process
}

// mark tells lines apart: whoever comes makes last greater, whoever leaves makes all
// smaller, and whoever is admitted makes held greater.
type mark struct{ all, held, last int64 }

func (t *tender) pause() time.Duration {
	return lookEvery * time.Duration(min(1+t.ahead, maxPatience))
}

func (t *tender) look(stirred bool) {
	ctx := context.Background()
	version, err := t.store.changes()
	if err != nil {
		return
	}
	changed := stirred
	if version != t.seen && !stirred {
		now, err := t.store.lineMark(ctx)
		if err != nil {
			return
		}
		changed = now != t.mark
	}
	if (changed || t.someoneDied()) && t.tell(ctx) != nil {
		return
	}
	t.seen = version
}

// lineMark reads what tells lines apart.
func (s *Store) lineMark(ctx context.Context) (m mark, err error) {
	err = s.reads.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(held), 0), coalesce(max(n), 0) FROM tickets").Scan(&m.all, &m.held, &m.last)
	return m, err
}

// someoneDied says whether one of those is gone whom a run of this process stands right
// behind.
func (t *tender) someoneDied() bool {
	for o := range t.watched {
		if gone, _ := o.gone(); gone {
			return true
		}
	}
	return false
}

// tell reads the line and tells every run of this process where it stands.
func (t *tender) tell(ctx context.Context) error {
	q := &t.store.queue
	q.mu.Lock() // first: who is in waiters then has a ticket
	defer q.mu.Unlock()
	list, err := t.read(ctx)
	if err != nil {
		return err
	}
	waiting := lineOf(list).Waiting()
	standing := map[int64]bool{}
	owners := map[string]owner{}
	t.watched, t.ahead = map[owner]bool{}, maxPatience
	for i := range list {
		owners[list[i].Run] = list[i].owner
		w := q.waiters[list[i].run]
		if w == nil {
			continue
		}
		standing[list[i].run] = true
		if list[i].Held {
			w.tell(history.QueuePosition{Run: list[i].Run})
			continue
		}
		t.attend(waiting[i], owners)
		if !waiting[i].Equal(w.told) {
			w.tell(waiting[i])
		}
	}
	for run, w := range q.waiters {
		if !standing[run] && !w.left {
			w.left = true
			close(w.gone)
		}
	}
	return nil
}

// read reads the line, without the tickets of the dead.
func (t *tender) read(ctx context.Context) ([]ticket, error) {
	list, err := readTickets(ctx, t.store.reads)
	if err == nil && slices.ContainsFunc(list, func(t ticket) bool { return t.dead }) {
		if err = t.store.write(ctx, "look after the line", t.store.moveUp); err == nil {
			list, err = readTickets(ctx, t.store.reads)
		}
	}
	if err != nil {
		return nil, err
	}
	t.mark = mark{}
	for i := range list {
		t.mark.all++
		t.mark.last = list[i].n
		if list[i].Held {
			t.mark.held++
		}
	}
	return living(list), nil
}

// attend notes whose death would concern a run that waits: who has what it needs, or who
// stands right before it.
func (t *tender) attend(q history.QueuePosition, owners map[string]owner) {
	ahead := 0
	for _, o := range q.Obstacles {
		ahead = max(ahead, o.Ahead)
		if o.Ahead > 0 {
			t.watched[owners[o.Behind]] = true
			continue
		}
		for _, h := range o.Holders {
			t.watched[owners[h.Run]] = true
		}
	}
	t.ahead = min(t.ahead, ahead)
}

// tell replaces news that nobody has fetched yet.
func (w *waiter) tell(q history.QueuePosition) {
	select {
	case <-w.news:
	default:
	}
	w.told = q
	w.news <- q
}
