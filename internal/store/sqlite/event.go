package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/rawtext"
)

// The events of the key on share the firings and cursors of schedules. The scheduled time of
// an event is a number that identifies it: that of the run for an after, and one of the version
// of the file for a file. All of these numbers are less than the time now in nanoseconds, so
// that they never move a cursor, which is a time here too.

// ClaimEvent is Claim for an event. data describes it and is kept as the reason of the firing.
func (b Firings) ClaimEvent(ctx context.Context, schedule string, event int64, run, data string) (mine bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return b.claim(ctx, Firing{Schedule: schedule, Scheduled: time.Unix(0, event), Run: run, Reason: data})
}

// SkipEvent is Skip for an event.
func (b Firings) SkipEvent(ctx context.Context, schedule string, event int64, reason string) error {
	return b.Skip(ctx, schedule, time.Unix(0, event), reason, time.Time{})
}

// HasEvent reports whether an event with a number from first to last was claimed or skipped.
func (b Firings) HasEvent(ctx context.Context, schedule string, first, last int64) (bool, error) {
	list, err := b.firings(ctx, "WHERE schedule = ? AND slot >= ? AND slot <= ? LIMIT 1", schedule, first, last)
	return len(list) > 0, err
}

// LastEvent returns the firing that was made last; ok is false if there is none.
func (b Firings) LastEvent(ctx context.Context, schedule string) (f Firing, ok bool, err error) {
	list, err := b.firings(ctx, "WHERE schedule = ? ORDER BY n DESC LIMIT 1", schedule)
	if len(list) == 0 {
		return f, false, err
	}
	return list[0], true, nil
}

// Advance moves the cursor of events forward to a time. Events before it are past.
func (b Firings) Advance(ctx context.Context, schedule string, to time.Time) error {
	return b.db.write(ctx, "move the cursor of "+schedule, func(ctx context.Context, c *conn) error {
		_, err := c.ExecContext(ctx, "UPDATE cursors SET last = ?1 WHERE schedule = ?2 AND last < ?1", to.UnixNano(), schedule)
		return err
	})
}

// EndedRun is a run that has ended.
type EndedRun struct {
	Number int64
	ID     string
	Status string
	Ended  time.Time
}

// EndedRuns returns the runs of a tool that ended at a time or later, in that order, without those
// that the schedule has claimed or skipped. file is the definition of the tool: another tool
// with the same name does not count. statuses limits the runs; none selects all.
func (b Firings) EndedRuns(ctx context.Context, schedule, tool, file string, statuses []string, since time.Time) ([]EndedRun, error) {
	name, err := json.Marshal(rawtext.Encode(file))
	if err != nil {
		return nil, err
	}
	query, args := `SELECT n, id, status, ended FROM runs JOIN records ON records.run = runs.n WHERE tool = ?1 AND ended >= ?2
		AND ?3 IN ('""', coalesce(record -> '$.sources[0].file', ?3))
		AND NOT EXISTS (SELECT 1 FROM firings WHERE schedule = ?4 AND slot = runs.n)`, []any{tool, since.UnixNano(), string(name), schedule}
	if len(statuses) > 0 {
		query += " AND status IN (?" + strings.Repeat(", ?", len(statuses)-1) + ")"
		for _, s := range statuses {
			args = append(args, s)
		}
	}
	return list(ctx, b.db, "read the runs that ended", func(rows *sql.Rows, r *EndedRun) error {
		var ended int64
		err := rows.Scan(&r.Number, &r.ID, &r.Status, &ended)
		r.Ended = time.Unix(0, ended)
		return err
	}, query+" ORDER BY ended, n", args...)
}
