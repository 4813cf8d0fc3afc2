package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/flowrun/flowrun/history"
)

// A scheduled time of a schedule is either claimed for a run or skipped, exactly once,
// whichever service does it: its row of firings is unique. The row holds the id of the run
// before the run exists. The commit that inserts the run also sets "open" to 0. So a firing
// that is still open has no run yet, and any service may start it with that id, because the
// history rejects a second run with the same id.
//
// A cursor is the last scheduled time of a schedule that was claimed or skipped. All times
// up to it are past, even if the wall clock is set back.

// Firing is a scheduled time that was claimed for a run or skipped.
type Firing struct {
	Schedule  string
	Scheduled time.Time
	At        time.Time // when that was done
	Run       string    // "" if it was skipped
	Reason    string    // why it was skipped; of the run of an event, the data of the event
	Open      bool      // the run has not started yet
	MustEnd   time.Time // its deadline; zero if there is none, or it has been checked
	Late      bool      // the run had not succeeded at the deadline
}

// Firings keeps which scheduled times were claimed or skipped. All services of a state
// directory share it.
type Firings struct {
	db     *db
	runs   history.Store
	claims *groupCall[Firing, bool]
	counts *groupCall[countQuery, ScheduleCounts]
}

// Firings returns the firings of this history.
func (s *Store) Firings() Firings { return s.firings }

// Watch starts to watch a schedule from the time since on; plan describes its times.
// Scheduled times up to since count as past. If the schedule is watched with the same plan
// already, nothing changes; with another plan, it starts again. Watch returns since when
// the schedule has been watched.
func (b Firings) Watch(ctx context.Context, schedule, plan string, since time.Time) (anchor time.Time, err error) {
	var at int64
	err = b.db.write(ctx, "read schedule "+schedule, func(ctx context.Context, c *conn) error {
		return c.QueryRowContext(ctx, `INSERT INTO cursors (schedule, plan, anchor, last) VALUES (?1, ?2, ?3, ?3)
			ON CONFLICT (schedule) DO UPDATE SET
				anchor = iif(plan = ?2, anchor, ?3), last = iif(plan = ?2, last, max(last, ?3)), plan = ?2
			RETURNING anchor`, schedule, plan, since.UnixNano()).Scan(&at)
	})
	return time.Unix(0, at), err
}

// Cursor returns the last scheduled time that was claimed or skipped, or since when the
// schedule has been watched. ok is false for a schedule that is not watched.
func (b Firings) Cursor(ctx context.Context, schedule string) (last time.Time, ok bool, err error) {
	return b.readTime(ctx, schedule, "SELECT last FROM cursors WHERE schedule = ?", schedule)
}

func (b Firings) readTime(ctx context.Context, schedule, query string, args ...any) (at time.Time, ok bool, err error) {
	if b.db.reads == nil {
		return at, false, nil
	}
	var ns int64
	err = b.db.reads.QueryRowContext(ctx, query, args...).Scan(&ns)
	if errors.Is(err, sql.ErrNoRows) {
		return at, false, nil
	}
	return time.Unix(0, ns), err == nil, b.db.failed("read schedule "+schedule, err)
}

// Anchor returns since when the schedule has been watched with that plan. ok is false if it
// is not watched.
func (b Firings) Anchor(ctx context.Context, schedule, plan string) (anchor time.Time, ok bool, err error) {
	return b.readTime(ctx, schedule, "SELECT anchor FROM cursors WHERE schedule = ? AND plan = ?", schedule, plan)
}

// Claim claims a scheduled time for a run that will have this id. mine is false if it was
// claimed or skipped before. mustEnd is the deadline, zero for none. Claim returns when the claim is on disk. Claims made at the
// same time share a commit.
func (b Firings) Claim(ctx context.Context, schedule string, slot time.Time, run string, mustEnd time.Time) (mine bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return b.claim(ctx, Firing{Schedule: schedule, Scheduled: slot, Run: run, MustEnd: mustEnd})
}

// ClaimPast claims a past scheduled time that has no run, also one that was skipped. Unlike Claim it does not move
// the cursor: later times before it can still be caught up. The claim is on disk when it returns.
func (b Firings) ClaimPast(ctx context.Context, schedule string, slot time.Time, run string) (mine bool, err error) {
	err = b.db.write(ctx, "fire schedules", func(ctx context.Context, c *conn) error {
		n, err := c.change(ctx, `INSERT INTO firings (schedule, slot, at, run, reason, open) VALUES (?, ?, ?, ?, '', 1)
			ON CONFLICT (schedule, slot) DO UPDATE SET at = excluded.at, run = excluded.run, reason = '', open = 1 WHERE run = ''`,
			schedule, slot.UnixNano(), time.Now().UnixNano(), run)
		mine = n > 0
		return err
	})
	if err != nil {
		return false, err
	}
	return mine, b.db.failed("fire schedules", b.db.wal.sync())
}

// claim records a claimed firing.
func (b Firings) claim(ctx context.Context, f Firing) (mine bool, err error) {
	return b.claims.do(f, func(list []Firing) (mine []bool, err error) {
		passPoint("fire-before")
		if mine, err = b.record(context.WithoutCancel(ctx), list); err != nil {
			return nil, err
		}
		passPoint("fire-after")
		return mine, b.db.failed("fire schedules", b.db.wal.sync())
	})
}

// Skip skips a scheduled time. It does nothing if the time was claimed or skipped before. mustEnd is
// the deadline, zero for none.
func (b Firings) Skip(ctx context.Context, schedule string, slot time.Time, reason string, mustEnd time.Time) error {
	_, err := b.record(ctx, []Firing{{Schedule: schedule, Scheduled: slot, Reason: reason, MustEnd: mustEnd}})
	return err
}

// record stores firings, except those whose time was claimed or skipped before, and moves
// the cursors.
func (b Firings) record(ctx context.Context, list []Firing) (mine []bool, err error) {
	mine = make([]bool, len(list))
	err = b.db.write(ctx, "fire schedules", func(ctx context.Context, c *conn) error {
		for i, f := range list {
			n, err := c.change(ctx, "INSERT INTO firings (schedule, slot, at, run, reason, open, must_end) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
				f.Schedule, f.Scheduled.UnixNano(), time.Now().UnixNano(), f.Run, f.Reason, f.Run != "", nanoseconds(f.MustEnd))
			if err != nil {
				return err
			}
			mine[i] = n > 0
			if _, err = c.ExecContext(ctx, "UPDATE cursors SET last = ?1 WHERE schedule = ?2 AND last < ?1", f.Scheduled.UnixNano(), f.Schedule); err != nil {
				return err
			}
		}
		return nil
	})
	return mine, err
}

// markFiringBegun notes that the run of a firing has started.
func markFiringBegun(ctx context.Context, c *conn, run string) error {
	_, err := c.ExecContext(ctx, "UPDATE firings SET open = 0 WHERE open = 1 AND run = ?", run)
	return err
}

// Abandon turns a firing whose run cannot start into a skipped one. It does nothing if the
// run has started.
func (b Firings) Abandon(ctx context.Context, run, reason string) error {
	return b.db.write(ctx, "skip run "+run, func(ctx context.Context, c *conn) error {
		_, err := c.ExecContext(ctx, "UPDATE firings SET open = 0, run = '', reason = ? WHERE open = 1 AND run = ?", reason, run)
		return err
	})
}

// Open returns the firings whose run has not started, oldest first: those of services that
// were killed between claim and start, and those that wait for their turn.
func (b Firings) Open(ctx context.Context) ([]Firing, error) {
	return b.firings(ctx, "WHERE open = 1 ORDER BY at, slot")
}

// ScheduleCounts are the runs of a schedule and the firings that wait.
type ScheduleCounts struct {
	Runs    []history.RunInfo // active or interrupted
	Waiting int               // number of open firings
}

type countQuery struct{ schedule, origin string }

// CountRuns returns the counts of a schedule whose runs have that origin. Calls made at the
// same time share the queries.
func (b Firings) CountRuns(ctx context.Context, schedule, origin string) (ScheduleCounts, error) {
	if err := ctx.Err(); err != nil {
		return ScheduleCounts{}, err
	}
	return b.counts.do(countQuery{schedule, origin}, func(list []countQuery) ([]ScheduleCounts, error) {
		ctx := context.WithoutCancel(ctx)
		waiting, err := b.waiting(ctx) // before the runs, so that a firing that starts in between is counted twice rather than missed
		if err != nil {
			return nil, err
		}
		open, err := b.runs.Runs(ctx, history.Query{Open: true})
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
func (b Firings) waiting(ctx context.Context) (map[string]int, error) {
	open, err := b.Open(ctx)
	all := map[string]int{}
	for _, f := range open {
		all[f.Schedule]++
	}
	return all, err
}

// LastFiring returns the newest firing of the schedule; ok is false if there is none.
func (b Firings) LastFiring(ctx context.Context, schedule string) (f Firing, ok bool, err error) {
	list, err := b.firings(ctx, "WHERE schedule = ? ORDER BY slot DESC LIMIT 1", schedule)
	if len(list) == 0 {
		return f, false, err
	}
	return list[0], true, nil
}

// Between returns the firings of the schedule for times after from and not after to, oldest
// first, at most limit.
func (b Firings) Between(ctx context.Context, schedule string, from, to time.Time, limit int) ([]Firing, error) {
	return b.firings(ctx, "WHERE schedule = ? AND slot > ? AND slot <= ? ORDER BY slot LIMIT ?", schedule, from.UnixNano(), to.UnixNano(), limit)
}

func (b Firings) firings(ctx context.Context, where string, args ...any) ([]Firing, error) {
	return list(ctx, b.db, "read the schedules' firings", func(rows *sql.Rows, f *Firing) error {
		var slot, at, mustEnd int64
		err := rows.Scan(&f.Schedule, &slot, &at, &f.Run, &f.Reason, &f.Open, &mustEnd, &f.Late)
		f.Scheduled, f.At = time.Unix(0, slot), time.Unix(0, at)
		if mustEnd > 0 {
			f.MustEnd = time.Unix(0, mustEnd)
		}
		return err
	}, "SELECT schedule, slot, at, run, reason, open, must_end, late FROM firings "+where, args...)
}

// nanoseconds returns a time as it is stored; 0 is the zero time.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// PastDeadline returns the firings whose deadline has passed and was not checked, the oldest
// deadline first.
func (b Firings) PastDeadline(ctx context.Context, now time.Time) ([]Firing, error) {
	return b.firings(ctx, "WHERE must_end > 0 AND must_end <= ? ORDER BY must_end, slot LIMIT 1000", now.UnixNano())
}

// CloseDeadline notes that the deadline of a firing was checked, and whether its run was late. mine is
// false if another service did that before.
func (b Firings) CloseDeadline(ctx context.Context, f Firing, late bool) (mine bool, err error) {
	err = b.db.write(ctx, "check the deadlines of schedules", func(ctx context.Context, c *conn) error {
		n, err := c.change(ctx, "UPDATE firings SET must_end = 0, late = ? WHERE schedule = ? AND slot = ? AND must_end > 0", late, f.Schedule, f.Scheduled.UnixNano())
		mine = n > 0
		return err
	})
	return mine, err
}

// SinceResumed returns the newest firings with a run since the schedule was last resumed, newest
// first, at most limit.
func (b Firings) SinceResumed(ctx context.Context, schedule string, limit int) ([]Firing, error) {
	return b.firings(ctx, "WHERE schedule = ?1 AND run <> '' AND at > coalesce((SELECT resumed FROM cursors WHERE schedule = ?1), 0) ORDER BY slot DESC LIMIT ?2", schedule, limit)
}
