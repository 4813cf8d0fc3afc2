package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// maxRuns limits the numbers of runs, so that the number of a run and that of an event fit
// into one integer.
const maxRuns = 1<<31 - 1

// Begin implements history.Store. It returns an error if there is a run with this id.
func (s *Store) Begin(ctx context.Context, r *history.Record) (history.Ledger, error) {
	op := "record run " + r.ID
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("cannot %s: %w", op, err)
	}
	for _, src := range r.Sources {
		if src.Digest != tool.DigestOf(src.Text) {
			return nil, fmt.Errorf("cannot %s: the digest of %s does not match its text", op, src.File)
		}
	}
	passPoint("begin-before")
	var n int64
	err = s.db.write(ctx, op, func(ctx context.Context, c *conn) (err error) {
		if err := s.db.keepReserve(op); err != nil {
			return err
		}
		n, err = s.insert(ctx, c, r, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	passPoint("begin-after")
	return s.newLedger(n, r.ID, 1, 0), nil
}

// insert stores the run and returns its number.
func (s *Store) insert(ctx context.Context, c *conn, r *history.Record, record []byte) (int64, error) {
	if err := endRetry(ctx, c, r); err != nil {
		return 0, err
	}
	process, boot, lease, alive := s.ownership()
	labels := ""
	if len(r.Labels) > 0 {
		b, err := json.Marshal(r.Labels)
		if err != nil {
			return 0, err
		}
		labels = string(b)
	}
	res, err := c.ExecContext(ctx, `INSERT INTO runs (id, tool, retry_of, origin, status, started, epoch, owner, boot, lease, alive, labels)
		VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		r.ID, r.Tool, r.RetryOf, r.Origin, dag.Running.String(), r.Created.UnixNano(), process, boot, lease, alive, labels)
	if err != nil {
		return 0, err
	}
	if added, err := res.RowsAffected(); err != nil || added == 0 {
		return 0, errors.Join(err, fmt.Errorf("cannot record run %s: a run with this id already exists", r.ID))
	}
	n, err := res.LastInsertId()
	switch {
	case err != nil:
		return 0, err
	case n > maxRuns:
		return 0, fmt.Errorf("cannot record run %s: the history has reached its limit of %d runs; move it away to start a new one", r.ID, maxRuns)
	}
	if r.Origin != "" {
		if err := markFiringBegun(ctx, c, r.ID); err != nil {
			return 0, err
		}
	}
	if history.ActorOf(ctx) != "" {
		if err := addAudit(ctx, c, "start", r.ID, r.Tool); err != nil {
			return 0, err
		}
	}
	if _, err := c.ExecContext(ctx, "INSERT INTO records (run, record) VALUES (?, ?)", n, string(record)); err != nil {
		return 0, err
	}
	for _, src := range r.Sources {
		if err := keepDefinition(ctx, c, src); err != nil {
			return 0, err
		}
		_, err := c.ExecContext(ctx, "INSERT INTO uses (digest, run) VALUES (?, ?) ON CONFLICT DO NOTHING", src.Digest, n)
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

// endRetry notes that the run which a new one retries is not retried automatically any more. It fails if a run that does so
// comes too late.
func endRetry(ctx context.Context, c *conn, r *history.Record) error {
	if r.RetryOf == "" {
		return nil
	}
	n, err := c.change(ctx, "UPDATE runs SET retry_at = 0 WHERE id = ? AND retry_at > 0", r.RetryOf)
	if err == nil && n == 0 && r.Automatic {
		err = fmt.Errorf("cannot record run %s, which retries run %s: %w", r.ID, r.RetryOf, history.ErrRetried)
	}
	return err
}

// keepDefinition stores a definition that is new.
func keepDefinition(ctx context.Context, c *conn, src tool.Source) error {
	var known bool
	err := c.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM definitions WHERE digest = ?)", src.Digest).Scan(&known)
	if err != nil || known {
		return err
	}
	text, packed := pack(src.Text)
	_, err = c.ExecContext(ctx, "INSERT INTO definitions (digest, text, packed) VALUES (?, ?, ?)", src.Digest, text, packed)
	return err
}

// Record implements history.Store. Numbers among the parameters are json.Number, so that
// they keep all digits.
func (s *Store) Record(ctx context.Context, id string) (*history.Record, error) {
	op := "read run " + id
	if s.db.reads == nil {
		return nil, noRun(op)
	}
	tx, err := s.db.reads.BeginTx(ctx, nil)
	if err != nil {
		return nil, s.db.failed(op, err)
	}
	defer tx.Rollback()
	var text []byte
	err = tx.QueryRowContext(ctx, "SELECT record FROM runs JOIN records ON run = n WHERE id = ?", id).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, noRun(op)
	case err != nil:
		return nil, s.db.failed(op, err)
	}
	var r history.Record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, &Error{Corrupt, s.db.file, op, err}
	}
	for i := range r.Sources {
		src := &r.Sources[i]
		var packed bool
		if err := tx.QueryRowContext(ctx, "SELECT text, packed FROM definitions WHERE digest = ?", src.Digest).Scan(&src.Text, &packed); err != nil {
			return nil, s.db.failed(op, err)
		}
		if packed {
			src.Text = unpack(src.Text)
		}
		if tool.DigestOf(src.Text) != src.Digest {
			return nil, &Error{Corrupt, s.db.file, op, fmt.Errorf("the text of %s has changed", src.File)}
		}
	}
	return &r, nil
}

func noRun(op string) error { return fmt.Errorf("cannot %s: %w", op, history.ErrNoRun) }
