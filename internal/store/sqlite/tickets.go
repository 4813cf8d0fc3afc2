package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// ticket is a row of tickets, with the owner of the run.
type ticket struct {
	n, run int64
	history.QueueEntry
	owner    owner
	epoch    int // of the ticket
	runEpoch int // of the run; 0 if the run does not exist any more
	status   string
	dead     bool // the ticket no longer counts
	lapsed   bool // dead only because the lease of its owner has expired
}

// ownerStates caches the states of processes during one query; a process may own many runs.
type ownerStates map[string]struct {
	pid   int
	state procid.Liveness
}

// assess sets the owner's pid of the ticket, and whether the ticket counts.
func (c ownerStates) assess(t *ticket) {
	p, known := c[t.owner.process.String]
	if !known {
		if id, ok := t.owner.identity(); ok {
			p.pid, p.state = id.PID, id.State()
		} else {
			p.state = procid.Dead
		}
		c[t.owner.process.String] = p
	}
	t.PID = p.pid
	if t.dead, t.lapsed = t.owner.judgeState(p.state); t.kept() {
		t.dead, t.lapsed = false, false
	}
	t.dead = t.dead || t.epoch != t.runEpoch
}

// kept reports whether the run was suspended and holds its demands all the same: Suspend drops all other tickets.
func (t *ticket) kept() bool {
	return t.Held && t.Step == "" && !t.owner.process.Valid && t.status == dag.Waiting.String()
}

// takeOverKept gives the ticket of a run that Suspend has kept to the owner with that epoch, if there is one.
func takeOverKept(ctx context.Context, c *conn, run int64, epoch int) (bool, error) {
	n, err := c.change(ctx, "UPDATE tickets SET epoch = ? WHERE run = ? AND step = '' AND held = 1 AND epoch = ?", epoch, run, epoch-1)
	return n > 0, err
}

// hasKept reports whether the run holds these demands already, since an earlier owner suspended it.
func (l *ledger) hasKept(ctx context.Context, c *conn, step, needs string) (kept bool, err error) {
	err = c.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM tickets WHERE run = ? AND step = ? AND epoch = ? AND held = 1 AND needs = ?)",
		l.run, step, l.epoch, needs).Scan(&kept)
	return kept, err
}

// readTickets returns all tickets in the order in which the runs and steps joined.
func readTickets(ctx context.Context, q querier) ([]ticket, error) {
	found := ownerStates{}
	known := map[string][]history.LockDemand{}
	return rowsOf(ctx, q, func(rows *sql.Rows, t *ticket) error {
		var needs string
		var since int64
		err := rows.Scan(&t.n, &t.run, &t.Step, &t.epoch, &t.Priority, &needs, &t.Held, &since, &t.Run, &t.runEpoch, &t.owner.process, &t.owner.boot, &t.owner.lease, &t.status)
		if err != nil {
			return err
		}
		if t.Demands = known[needs]; t.Demands == nil { // most runs have the same demands
			if err := json.Unmarshal([]byte(needs), &t.Demands); err != nil {
				return fmt.Errorf("cannot read what run %s waits for: %w", t.Run, err)
			}
			t.Demands = convertedDemands(t.Demands, rawtext.Decode)
			known[needs] = t.Demands
		}
		t.Since = time.Unix(0, since)
		found.assess(t)
		return nil
	}, `SELECT t.n, t.run, t.step, t.epoch, t.priority, t.needs, t.held, t.since,
		coalesce(r.id, ''), coalesce(r.epoch, 0), r.owner, coalesce(r.boot, ''), coalesce(r.lease, 0), coalesce(r.status, '')
		FROM tickets t LEFT JOIN runs r ON r.n = t.run ORDER BY t.n`)
}

// queueOf returns the tickets as a history.Queue.
func queueOf(list []ticket) history.Queue {
	queue := make(history.Queue, len(list))
	for i := range list {
		queue[i] = list[i].QueueEntry
	}
	return queue
}

// Queue implements history.Store.
func (s *Store) Queue(ctx context.Context) (history.Queue, error) {
	if s.db.reads == nil {
		return nil, nil
	}
	list, err := readTickets(ctx, s.db.reads)
	if err != nil {
		return nil, s.db.failed("read the queue", err)
	}
	return queueOf(liveTickets(list)), nil
}

// liveTickets returns the tickets that count.
func liveTickets(list []ticket) []ticket {
	var live []ticket
	for i := range list {
		if !list[i].dead {
			live = append(live, list[i])
		}
	}
	return live
}

// admitNext removes the tickets of owners that are gone, and admits the runs that may
// start. It must be called in the transaction that changed the queue.
func admitNext(ctx context.Context, c *conn) error {
	list, err := readTickets(ctx, c)
	if err != nil {
		return err
	}
	for i := range list {
		if t := &list[i]; t.dead {
			if err := t.remove(ctx, c); err != nil {
				return err
			}
		}
	}
	list = liveTickets(list)
	queue, now := queueOf(list), time.Now()
	rates, err := readRates(ctx, c, queue)
	if err != nil {
		return err
	}
	before := maps.Clone(rates)
	next, _ := queue.Next(now, rates)
	for _, i := range next {
		if _, err := c.ExecContext(ctx, "UPDATE tickets SET held = 1, since = ? WHERE n = ?", now.UnixNano(), list[i].n); err != nil {
			return err
		}
	}
	for pool, at := range rates {
		if at.Equal(before[pool]) {
			continue
		}
		if _, err := c.ExecContext(ctx, "INSERT OR REPLACE INTO rates (pool, at) VALUES (?, ?)", pool, at.UnixNano()); err != nil {
			return err
		}
	}
	return nil
}

// readRates returns the states of all rates. It is empty for a queue without rates.
func readRates(ctx context.Context, q querier, queue history.Queue) (history.Rates, error) {
	rates := history.Rates{}
	if !slices.ContainsFunc(queue, func(e history.QueueEntry) bool {
		return !e.Held && slices.ContainsFunc(e.Demands, func(d history.LockDemand) bool { return d.Rate.N > 0 })
	}) {
		return rates, nil
	}
	_, err := rowsOf(ctx, q, func(rows *sql.Rows, pool *string) error {
		var at int64
		err := rows.Scan(pool, &at)
		rates[*pool] = time.Unix(0, at)
		return err
	}, "SELECT pool, at FROM rates")
	return rates, err
}

// remove removes a dead ticket. If its owner is only presumed dead, because its lease has
// expired and the state of its process cannot be found out, the owner also loses the run.
// Otherwise, if it is alive after all, it would continue beside the next holder.
func (t *ticket) remove(ctx context.Context, c *conn) error {
	_, err := c.ExecContext(ctx, "DELETE FROM tickets WHERE n = ?", t.n)
	if err == nil && t.epoch == t.runEpoch && t.lapsed {
		_, err = c.ExecContext(ctx, "UPDATE runs SET epoch = epoch + 1, owner = NULL, lease = 0 WHERE n = ? AND epoch = ?", t.run, t.epoch)
	}
	return err
}

// leaveQueue removes a run from the queue and releases what it holds. It keeps the ticket
// of an owner with a later epoch.
func leaveQueue(ctx context.Context, c *conn, run int64, epoch int) error {
	return dropTickets(ctx, c, "run = ? AND epoch <= ?", run, epoch)
}

// dropTickets deletes tickets, and admits the next ones if there were any.
func dropTickets(ctx context.Context, c *conn, where string, args ...any) error {
	if n, err := c.change(ctx, "DELETE FROM tickets WHERE "+where, args...); err != nil || n == 0 {
		return err
	}
	return admitNext(ctx, c)
}
