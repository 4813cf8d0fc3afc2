package sqlite

import (
	"context"
	"database/sql"
	"time"
)

// Backfill is a backfill that a service was asked for and has not finished.
type Backfill struct {
	Schedule string    // its id
	From, To time.Time // its scheduled times; To is not part of them
	Parallel int       // how many runs may be active at once
}

// Backfills returns the backfills that are not finished, by schedule.
func (s Schedules) Backfills(ctx context.Context) ([]Backfill, error) {
	return list(ctx, s.db, "list the backfills", func(rows *sql.Rows, b *Backfill) error {
		var from, to int64
		err := rows.Scan(&b.Schedule, &from, &to, &b.Parallel)
		b.From, b.To = time.Unix(0, from), time.Unix(0, to)
		return err
	}, "SELECT schedule, first, until, parallel FROM backfills ORDER BY schedule")
}

// AddBackfill keeps a backfill, in place of an earlier one of its schedule.
func (s Schedules) AddBackfill(ctx context.Context, b Backfill) error {
	return s.db.write(ctx, "add the backfill of "+b.Schedule, func(ctx context.Context, c *conn) error {
		_, err := c.ExecContext(ctx, "INSERT OR REPLACE INTO backfills (schedule, first, until, parallel) VALUES (?, ?, ?, ?)",
			b.Schedule, b.From.UnixNano(), b.To.UnixNano(), b.Parallel)
		return err
	})
}

// RemoveBackfill removes the backfill of a schedule, and reports whether there was one.
func (s Schedules) RemoveBackfill(ctx context.Context, schedule string) (existed bool, err error) {
	err = s.db.write(ctx, "remove the backfill of "+schedule, func(ctx context.Context, c *conn) error {
		n, err := c.change(ctx, "DELETE FROM backfills WHERE schedule = ?", schedule)
		existed = n > 0
		return err
	})
	return existed, err
}
