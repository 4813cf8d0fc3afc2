package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/history"
)

// Claim implements history.Store. It replaces an owner that is dead. It also replaces one
// that is alive but has not renewed its lease (30 s); that process is stopped. The claim is
// noted in the audit list.
func (s *Store) Claim(ctx context.Context, id string, seq uint64) (history.Ledger, error) {
	op := "take over run " + id
	var n int64
	var epoch, answers int
	var kept bool
	passPoint("claim-before")
	err := s.db.write(ctx, op, func(ctx context.Context, c *conn) error {
		var o owner
		err := c.QueryRowContext(ctx, "SELECT n, epoch, owner, boot, lease FROM runs WHERE id = ?", id).
			Scan(&n, &epoch, &o.process, &o.boot, &o.lease)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return noRun(op)
		case err != nil:
			return err
		case s.ledger(n) != nil || o.lives():
			return fmt.Errorf("cannot %s: %w", op, history.ErrLive)
		}
		last, err := lastSeq(ctx, c, n)
		switch {
		case err != nil:
			return err
		case last != seq:
			return fmt.Errorf("cannot %s: %w: its last event is %d, not %d", op, history.ErrChanged, last, seq)
		}
		if err := c.QueryRowContext(ctx, "SELECT count(*) FROM answers WHERE run = ?", n).Scan(&answers); err != nil {
			return err
		}
		epoch++
		process, boot, lease, alive := s.ownership()
		_, err = c.ExecContext(ctx, "UPDATE runs SET epoch = ?, owner = ?, boot = ?, lease = ?, alive = ?, cancel = NULL, retry_at = 0 WHERE n = ?",
			epoch, process, boot, lease, alive, n)
		if err == nil && !o.process.Valid {
			kept, err = takeOverKept(ctx, c, n, epoch)
		}
		if err == nil {
			err = leaveQueue(ctx, c, n, epoch-1) // of a former owner that was killed in the queue
		}
		if err != nil {
			return err
		}
		return addAudit(ctx, c, "resume", id, fmt.Sprintf("owner %d", epoch))
	})
	if err != nil {
		return nil, err
	}
	s.queue.notifyChanged()
	passPoint("claim-after")
	l := s.newLedger(n, id, epoch, answers)
	l.queued = kept
	if err := l.deliverAnswers(); err != nil {
		l.Close()
		return nil, s.db.failed(op, err)
	}
	return l, nil
}

// lastSeq returns the number of the run's last event, 0 if there is none.
func lastSeq(ctx context.Context, c *conn, run int64) (uint64, error) {
	var n int64
	err := c.QueryRowContext(ctx, "SELECT n FROM turns WHERE n BETWEEN ? AND ? ORDER BY n DESC LIMIT 1",
		turn(run, 0), turn(run, maxSeq)).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return uint64(n & maxSeq), err
}

// Cancel implements history.Store. The owner gets the request within about 150 ms. The
// request is noted in the audit list.
func (s *Store) Cancel(ctx context.Context, id, reason string) error {
	op := "cancel run " + id
	var n int64
	err := s.db.write(ctx, op, func(ctx context.Context, c *conn) error {
		err := c.QueryRowContext(ctx, "UPDATE runs SET cancel = ?, retry_at = 0 WHERE id = ? RETURNING n", reason, id).Scan(&n)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return noRun(op)
		case err != nil:
			return err
		}
		return addAudit(ctx, c, "cancel", id, reason)
	})
	if l := s.ledger(n); err == nil && l != nil {
		l.requestCancel(reason) // the watch only sees writes of others
	}
	return err
}
