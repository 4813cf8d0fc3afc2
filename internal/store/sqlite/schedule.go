package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Schedule is a schedule that was added with a command.
type Schedule struct {
	ID      string // unique: the name, with the project if the tool belongs to one
	Name    string
	Tool    string
	Project string    // folder of the project that has the tool, "" for user and global tools
	Plan    string    // JSON; only the code that added it reads it
	By      string    // the user
	At      time.Time // when it was added
}

// ErrTaken means that there is a schedule with this id already.
var ErrTaken = errors.New("a schedule with this name already exists")

// Schedules are the schedules that were added with a command, and the pauses of all schedules.
type Schedules struct{ db *db }

// Schedules returns the schedules of this history.
func (s *Store) Schedules() Schedules { return Schedules{s.db} }

// List returns the schedules, sorted by id.
func (s Schedules) List(ctx context.Context) ([]Schedule, error) {
	return list(ctx, s.db, "list the schedules", func(rows *sql.Rows, r *Schedule) error {
		var at int64
		err := rows.Scan(&r.ID, &r.Name, &r.Tool, &r.Project, &r.Plan, &r.By, &at)
		r.At = time.Unix(0, at)
		return err
	}, "SELECT id, name, tool, project, plan, by, at FROM schedules ORDER BY id")
}

// Add stores a schedule; it sets By and At itself. If there is one with this id,
// the error is ErrTaken, unless replace is set: then the new one replaces it. Its plan
// decides whether it is watched anew, see Firings.Watch.
func (s Schedules) Add(ctx context.Context, r Schedule, replace bool) error {
	return s.db.write(ctx, "add schedule "+r.Name, func(ctx context.Context, c *conn) error {
		if replace {
			for _, q := range []string{"DELETE FROM schedules WHERE id = ?", "DELETE FROM pauses WHERE schedule = ?"} {
				if _, err := c.ExecContext(ctx, q, r.ID); err != nil {
					return err
				}
			}
		}
		n, err := c.change(ctx, "INSERT INTO schedules (id, name, tool, project, plan, by, at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			r.ID, r.Name, r.Tool, r.Project, r.Plan, userName(), time.Now().UnixNano())
		if err != nil || n == 0 {
			return errors.Join(err, ErrTaken)
		}
		return noteScheduleChange(ctx, c, r.ID+" added")
	})
}

// Remove removes a schedule and reports whether it existed.
func (s Schedules) Remove(ctx context.Context, id string) (existed bool, err error) {
	err = s.db.write(ctx, "remove schedule "+id, func(ctx context.Context, c *conn) error {
		if existed, err = deleteSchedule(ctx, c, id); err != nil || !existed {
			return err
		}
		return noteScheduleChange(ctx, c, id+" removed")
	})
	return existed, err
}

// deleteSchedule deletes a schedule with its cursor and pause. Its firings are kept: they
// tell which scheduled times had a run.
func deleteSchedule(ctx context.Context, c *conn, id string) (existed bool, err error) {
	n, err := c.change(ctx, "DELETE FROM schedules WHERE id = ?", id)
	for _, q := range []string{"DELETE FROM cursors WHERE schedule = ?", "DELETE FROM pauses WHERE schedule = ?", "DELETE FROM backfills WHERE schedule = ?"} {
		if err == nil {
			_, err = c.ExecContext(ctx, q, id)
		}
	}
	return n > 0, err
}

// noteScheduleChange counts a change of the schedules and notes it in the audit list.
func noteScheduleChange(ctx context.Context, c *conn, detail string) error {
	if _, err := c.ExecContext(ctx, "UPDATE schedule_changes SET n = n + 1"); err != nil {
		return err
	}
	return addAudit(ctx, c, "schedule", "", detail)
}

// Changes returns a number that grows with every change of the schedules and
// pauses.
func (s Schedules) Changes(ctx context.Context) (n int64, err error) {
	if s.db.reads == nil {
		return 0, nil
	}
	err = s.db.reads.QueryRowContext(ctx, "SELECT n FROM schedule_changes").Scan(&n)
	return n, s.db.failed("read the schedules", err)
}

// Pause stops a schedule from firing until Resume, whether it was added or
// is part of a definition. changed is false if it was paused already.
func (s Schedules) Pause(ctx context.Context, id string) (changed bool, err error) {
	return s.PauseBecause(ctx, id, "")
}

// PauseBecause is Pause with a reason for people; "" is none.
func (s Schedules) PauseBecause(ctx context.Context, id, reason string) (changed bool, err error) {
	err = s.db.write(ctx, "pause schedule "+id, func(ctx context.Context, c *conn) error {
		n, err := c.change(ctx, "INSERT INTO pauses (schedule, by, at, reason) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", id, actor(ctx), time.Now().UnixNano(), reason)
		if err != nil || n == 0 {
			return err
		}
		changed = true
		detail := id + " paused"
		if reason != "" {
			detail += ": " + reason
		}
		return noteScheduleChange(ctx, c, detail)
	})
	return changed, err
}

// Resume ends a pause and reports whether there was one. Scheduled times during the
// pause are skipped, because the pause was intended, and runs before it do not count as failures.
func (s Schedules) Resume(ctx context.Context, id string) (changed bool, err error) {
	err = s.db.write(ctx, "resume schedule "+id, func(ctx context.Context, c *conn) error {
		n, err := c.change(ctx, "DELETE FROM pauses WHERE schedule = ?", id)
		if err != nil || n == 0 {
			return err
		}
		changed = true
		if _, err := c.ExecContext(ctx, "UPDATE cursors SET last = max(last, ?1), resumed = ?1 WHERE schedule = ?2", time.Now().UnixNano(), id); err != nil {
			return err
		}
		return noteScheduleChange(ctx, c, id+" resumed")
	})
	return changed, err
}

// Pause is the pause of a schedule.
type Pause struct {
	Since  time.Time
	Reason string // why a service has paused it; "" if a person did
}

// Pauses returns the pauses by the id of the schedule.
func (s Schedules) Pauses(ctx context.Context) (map[string]Pause, error) {
	all := map[string]Pause{}
	_, err := list(ctx, s.db, "list the paused schedules", func(rows *sql.Rows, id *string) error {
		var at int64
		var p Pause
		err := rows.Scan(id, &at, &p.Reason)
		p.Since = time.Unix(0, at)
		all[*id] = p
		return err
	}, "SELECT schedule, at, reason FROM pauses")
	return all, err
}
