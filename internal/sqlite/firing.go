package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/flowrun/flowrun/history"
)

// The schedules' slots. A slot is dealt with once, whoever looks at it: the row of
// firings that says so is unique. It holds the id of the run before there is a run, and
// the run's first row takes its mark "open" away in the same commit. So a firing that is
// still open has no run yet, and may be started under its id by anybody: the history
// refuses a second run of one id.
//
// A cursor is the last slot of a schedule that was dealt with: slots up to it are past,
// whatever the clock on the wall says later.

// Firing is a slot that was dealt with.
type Firing struct {
	Schedule  string
	Scheduled time.Time
	At        time.Time // when it was dealt with
	Run       string    // "" where the slot was left out
	Reason    string    // why it was
	Open      bool      // the run is still to begin
}

// FiringStore is where it is kept which slots of schedules were dealt with. Services on one
// state directory share it.
type FiringStore struct{ s *Store }

// FiringStore is the history's.
func (s *Store) FiringStore() FiringStore { return FiringStore{s} }

// Watch begins to look at a schedule whose times plan describes: since is remembered and
// slots up to it are past. A plan that is known keeps what is known of it; one that has
// changed begins anew. It answers since when the schedule is looked at.
func (b FiringStore) Watch(ctx context.Context, schedule, plan string, since time.Time) (anchor time.Time, err error) {
	var at int64
	err = b.s.write(ctx, "look at schedule "+schedule, func(ctx context.Context, c *sql.Conn) error {
		return c.QueryRowContext(ctx, `INSERT INTO cursors (schedule, plan, anchor, last) VALUES (?1, ?2, ?3, ?3)
			ON CONFLICT (schedule) DO UPDATE SET
				anchor = iif(plan = ?2, anchor, ?3), last = iif(plan = ?2, last, max(last, ?3)), plan = ?2
			RETURNING anchor`, schedule, plan, since.UnixNano()).Scan(&at)
	})
	return time.Unix(0, at), err
}

// Cursor is the last slot of the schedule that was dealt with, or since when it is
// looked at; ok is false for a schedule that nobody looks at.
func (b FiringStore) Cursor(ctx context.Context, schedule string) (last time.Time, ok bool, err error) {
	return b.readTime(ctx, schedule, "SELECT last FROM cursors WHERE schedule = ?", schedule)
}

func (b FiringStore) readTime(ctx context.Context, schedule, query string, args ...any) (at time.Time, ok bool, err error) {
	if b.s.reads == nil {
		return at, false, nil
	}
	var ns int64
	err = b.s.reads.QueryRowContext(ctx, query, args...).Scan(&ns)
	if errors.Is(err, sql.ErrNoRows) {
		return at, false, nil
	}
	return time.Unix(0, ns), err == nil, b.s.failed("look at schedule "+schedule, err)
}

// Anchor is since when a schedule of that plan is looked at; ok is false where nobody
// looks at it.
func (b FiringStore) Anchor(ctx context.Context, schedule, plan string) (anchor time.Time, ok bool, err error) {
	return b.readTime(ctx, schedule, "SELECT anchor FROM cursors WHERE schedule = ? AND plan = ?", schedule, plan)
}

// Claim deals with a slot by a run that is to have this id. mine is false where somebody
// has dealt with the slot before. It returns when the claim is on the disk; claims that
// are made at the same time share a commit.
func (b FiringStore) Claim(ctx context.Context, schedule string, slot time.Time, run string) (mine bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	f := Firing{Schedule: schedule, Scheduled: slot, Run: run}
	return b.s.claimCalls.do(f, func(list []Firing) (mine []bool, err error) {
		passPoint("fire-before")
		if mine, err = b.record(context.WithoutCancel(ctx), list); err != nil {
			return nil, err
		}
		passPoint("fire-after")
		return mine, b.s.failed("fire schedules", b.s.wal.sync())
	})
}

// Skip deals with a slot by leaving it out. It is no error when somebody has dealt with
// it before.
func (b FiringStore) Skip(ctx context.Context, schedule string, slot time.Time, reason string) error {
	_, err := b.record(ctx, []Firing{{Schedule: schedule, Scheduled: slot, Reason: reason}})
	return err
}

// record keeps what becomes of slots, unless that is known already, and moves the cursors.
func (b FiringStore) record(ctx context.Context, list []Firing) (mine []bool, err error) {
	mine = make([]bool, len(list))
	err = b.s.write(ctx, "fire schedules", func(ctx context.Context, c *sql.Conn) error {
		insert, err := c.PrepareContext(ctx, "INSERT INTO firings (schedule, slot, at, run, reason, open) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
		if err != nil {
			return err
		}
		defer insert.Close()
		move, err := c.PrepareContext(ctx, "UPDATE cursors SET last = ?1 WHERE schedule = ?2 AND last < ?1")
		if err != nil {
			return err
		}
		defer move.Close()
		for i, f := range list {
			res, err := insert.ExecContext(ctx, f.Schedule, f.Scheduled.UnixNano(), time.Now().UnixNano(), f.Run, f.Reason, f.Run != "")
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			if err != nil {
				return err
			}
			mine[i] = n > 0
			if _, err = move.ExecContext(ctx, f.Scheduled.UnixNano(), f.Schedule); err != nil {
				return err
			}
		}
		return nil
	})
	return mine, err
}

// markFiringBegun notes that the run of a firing is there.
func markFiringBegun(ctx context.Context, c *sql.Conn, run string) error {
	_, err := c.ExecContext(ctx, "UPDATE firings SET open = 0 WHERE open = 1 AND run = ?", run)
	return err
}

// Abandon makes a firing whose run cannot begin a slot that was left out. It changes
// nothing where the run has begun.
func (b FiringStore) Abandon(ctx context.Context, run, reason string) error {
	return b.s.write(ctx, "leave out run "+run, func(ctx context.Context, c *sql.Conn) error {
		_, err := c.ExecContext(ctx, "UPDATE firings SET open = 0, run = '', reason = ? WHERE open = 1 AND run = ?", reason, run)
		return err
	})
}

// Open are the firings whose run has not begun, oldest first: those of services that
// died between the two, and those that wait for their turn.
func (b FiringStore) Open(ctx context.Context) ([]Firing, error) {
	return b.firings(ctx, "WHERE open = 1 ORDER BY at, slot")
}

// ScheduleCounts is how a schedule stands.
type ScheduleCounts struct {
	Runs    []history.RunInfo // those under way, or interrupted
	Waiting int               // open firings
}

type countQuery struct{ schedule, origin string }

// CountRuns says how a schedule stands whose runs have that origin. Questions that are
// asked at the same time share the looks.
func (b FiringStore) CountRuns(ctx context.Context, schedule, origin string) (ScheduleCounts, error) {
	if err := ctx.Err(); err != nil {
		return ScheduleCounts{}, err
	}
	return b.s.countCalls.do(countQuery{schedule, origin}, func(list []countQuery) ([]ScheduleCounts, error) {
		ctx := context.WithoutCancel(ctx)
		waiting, err := b.waiting(ctx) // before the runs: what begins between the two is seen twice, and not missed
		if err != nil {
			return nil, err
		}
		open, err := b.s.Runs(ctx, history.Query{Open: true})
		if err != nil {
			return nil, err
		}
		runs := map[string][]history.RunInfo{}
		for _, r := range open {
			runs[r.Origin] = append(runs[r.Origin], r)
		}
		all := make([]ScheduleCounts, len(list))
		for i, q := range list {
			all[i] = ScheduleCounts{runs[q.origin], waiting[q.schedule]}
		}
		return all, nil
	})
}

// waiting counts the open firings of each schedule.
func (b FiringStore) waiting(ctx context.Context) (map[string]int, error) {
	open, err := b.Open(ctx)
	all := map[string]int{}
	for _, f := range open {
		all[f.Schedule]++
	}
	return all, err
}

// LastFiring is the schedule's newest slot that was dealt with; ok is false where there
// is none.
func (b FiringStore) LastFiring(ctx context.Context, schedule string) (f Firing, ok bool, err error) {
	list, err := b.firings(ctx, "WHERE schedule = ? ORDER BY slot DESC LIMIT 1", schedule)
	if len(list) == 0 {
		return f, false, err
	}
	return list[0], true, nil
}

func (b FiringStore) firings(ctx context.Context, where string, args ...any) (list []Firing, err error) {
	const op = "read the schedules' firings"
	if b.s.reads == nil {
		return nil, nil
	}
	rows, err := b.s.reads.QueryContext(ctx, "SELECT schedule, slot, at, run, reason, open FROM firings "+where, args...)
	if err != nil {
		return nil, b.s.failed(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var f Firing
		var slot, at int64
		if err := rows.Scan(&f.Schedule, &slot, &at, &f.Run, &f.Reason, &f.Open); err != nil {
			return nil, b.s.failed(op, err)
		}
		f.Scheduled, f.At = time.Unix(0, slot), time.Unix(0, at)
		list = append(list, f)
	}
	return list, b.s.failed(op, rows.Err())
}
