package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// maxDigestLines is how many lines a digest keeps. Older lines are only counted.
const maxDigestLines = 100

// Digest is what a notification has to report since it was last sent.
type Digest struct {
	Rule    string
	Lines   []string // oldest first
	Run     string   // of the last line
	Event   string   // of the last line
	Earlier int      // older lines that were not kept

	last int64
}

// Digests are the digests that are not sent yet.
type Digests struct{ db *db }

// Digests returns the digests of this history.
func (s *Store) Digests() Digests { return Digests{s.db} }

// Add keeps a line about a run for a notification.
func (s Digests) Add(ctx context.Context, rule, run, event, line string) error {
	return s.db.write(ctx, "keep a notification", func(ctx context.Context, c *conn) error {
		if _, err := c.ExecContext(ctx, "INSERT INTO digests (rule, sent, dropped) VALUES (?, 0, 0) ON CONFLICT DO NOTHING", rule); err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, "INSERT INTO digest_lines (rule, run, event, line) VALUES (?, ?, ?, ?)", rule, run, event, line); err != nil {
			return err
		}
		dropped, err := c.change(ctx, "DELETE FROM digest_lines WHERE rule = ?1 AND n NOT IN (SELECT n FROM digest_lines WHERE rule = ?1 ORDER BY n DESC LIMIT ?2)", rule, maxDigestLines)
		if err != nil || dropped == 0 {
			return err
		}
		_, err = c.ExecContext(ctx, "UPDATE digests SET dropped = dropped + 1 WHERE rule = ?", rule)
		return err
	})
}

// Due returns the digest of a notification if it has lines and was not sent for the time every.
// It counts as sent now, so that nobody else sends it; Drop removes its lines afterwards. If
// they could not be sent, they are due again after the same time.
func (s Digests) Due(ctx context.Context, rule string, every time.Duration, now time.Time) (due *Digest, err error) {
	err = s.db.write(ctx, "read the notifications to send", func(ctx context.Context, c *conn) error {
		d := &Digest{Rule: rule}
		var sent int64
		err := c.QueryRowContext(ctx, "SELECT sent, dropped FROM digests WHERE rule = ?", rule).Scan(&sent, &d.Earlier)
		if errors.Is(err, sql.ErrNoRows) || err == nil && now.Sub(time.Unix(0, sent)) < every {
			return nil
		}
		if err != nil {
			return err
		}
		d.Lines, err = rowsOf(ctx, c, func(rows *sql.Rows, line *string) error { return rows.Scan(&d.last, &d.Run, &d.Event, line) },
			"SELECT n, run, event, line FROM digest_lines WHERE rule = ? ORDER BY n", rule)
		if err != nil || len(d.Lines) == 0 {
			return err
		}
		due = d
		_, err = c.ExecContext(ctx, "UPDATE digests SET sent = ? WHERE rule = ?", now.UnixNano(), rule)
		return err
	})
	return due, err
}

// Drop removes the lines of a digest that was sent.
func (s Digests) Drop(ctx context.Context, d *Digest) error {
	return s.db.write(ctx, "remove notifications that were sent", func(ctx context.Context, c *conn) error {
		if _, err := c.ExecContext(ctx, "DELETE FROM digest_lines WHERE rule = ? AND n <= ?", d.Rule, d.last); err != nil {
			return err
		}
		_, err := c.ExecContext(ctx, "UPDATE digests SET dropped = max(0, dropped - ?) WHERE rule = ?", d.Earlier, d.Rule)
		return err
	})
}

// Rules returns the notifications that have lines to send.
func (s Digests) Rules(ctx context.Context) ([]string, error) {
	return list(ctx, s.db, "list the notifications to send", scanColumn[string], "SELECT DISTINCT rule FROM digest_lines")
}

// maxDigestAge is how long a digest is kept after it was last sent. One that is older belongs to a notification that
// was removed or changed: a service sends all others when they are due.
const maxDigestAge = 366 * 24 * time.Hour

// dropDigests removes the digests of notifications that no longer exist. One that was never sent has just been made.
func dropDigests(ctx context.Context, c *conn) (more bool, err error) {
	before := time.Now().Add(-maxDigestAge).UnixNano()
	const old = "SELECT rule FROM digests WHERE sent > 0 AND sent < ?"
	if _, err := c.ExecContext(ctx, "DELETE FROM digest_lines WHERE rule IN ("+old+")", before); err != nil {
		return false, err
	}
	_, err = c.ExecContext(ctx, "DELETE FROM digests WHERE rule IN ("+old+")", before)
	return false, err
}
