package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/store/eventcode"
)

// ErrNoHistory reports that there is no history to back up.
var ErrNoHistory = errors.New("there is no history yet")

// Backup writes the history, as it is at one moment, into a new file. Others may write to the history meanwhile. In the copy
// the owners of all runs are gone, as if the machine had been started again: a run that has not ended is interrupted there.
func (f File) Backup(ctx context.Context, path string) error {
	const op = "back up the history"
	if f.db.reads == nil {
		return ErrNoHistory
	}
	// SQLite would make the file readable for others.
	if file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return err
	} else if err := file.Close(); err != nil {
		return err
	}
	reads := f.db.reads
	if f.db.conn != nil { // then reads may not even write to another file
		var err error
		if reads, err = sql.Open("sqlite", f.db.dsn("mode=ro&_pragma=busy_timeout("+milliseconds(busyTimeout)+")")); err != nil {
			return err
		}
		defer reads.Close()
	}
	if _, err := reads.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return errors.Join(f.db.failed(op, err), os.Remove(path))
	}
	c, err := OpenCopy(ctx, path)
	if err != nil {
		return err
	}
	const abandon = "UPDATE runs SET owner = json_set(owner, '$.boot', 'backup'), boot = 'backup', lease = 0 WHERE owner IS NOT NULL"
	_, err = c.conn.ExecContext(ctx, abandon)
	return errors.Join(c.failed(op, err), c.Close())
}

// Copy is a file that Backup has made, which nobody else uses.
type Copy struct {
	*db
	conn *sql.DB
}

// OpenCopy opens a file that Backup has made. Errors: an *Error, such as one with the code Newer.
func OpenCopy(ctx context.Context, path string) (*Copy, error) {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil, errors.Join(err, &fs.PathError{Op: opening, Path: path, Err: fs.ErrNotExist})
	}
	d := &db{file: path}
	conn, err := sql.Open("sqlite", d.dsn("mode=rw"))
	if err != nil {
		return nil, err
	}
	conn.SetMaxOpenConns(1) // so that a transaction is one of all statements
	c, err := conn.Conn(ctx)
	if err == nil {
		_, err = d.version(ctx, c, true)
		c.Close()
	}
	if err != nil {
		conn.Close()
		return nil, d.failed(opening, err)
	}
	return &Copy{d, conn}, nil
}

// Close closes the file.
func (c *Copy) Close() error { return c.conn.Close() }

// Check reads the whole file and returns an error with the code Corrupt if it is damaged.
func (c *Copy) Check(ctx context.Context) error {
	found, err := rowsOf(ctx, c.conn, scanColumn[string], fmt.Sprintf("PRAGMA integrity_check(%d)", maxProblems))
	if text := strings.Join(found, "; "); err == nil && text != "ok" {
		err = &Error{Corrupt, c.file, opening, errors.New(text)}
	}
	return c.failed(opening, err)
}

// Has reports whether there is a run with this id.
func (c *Copy) Has(ctx context.Context, id string) (has bool, err error) {
	err = c.conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?)", id).Scan(&has)
	return has, c.failed(opening, err)
}

// Runs returns the number of runs.
func (c *Copy) Runs(ctx context.Context) (n int, err error) {
	err = c.conn.QueryRowContext(ctx, "SELECT count(*) FROM runs").Scan(&n)
	return n, c.failed(opening, err)
}

// runsOfCopy is how many runs EachTurn reads in one transaction.
const runsOfCopy = 500

// EachTurn calls f with the events of each turn of each run, oldest run first, and returns the number of runs. If f reports a
// change, the changed events are stored.
func (c *Copy) EachTurn(ctx context.Context, f func(run string, events []dag.Event) (changed bool, err error)) (runs int, err error) {
	for last, done := int64(0), false; !done; {
		tx, err := c.conn.BeginTx(ctx, nil)
		if err != nil {
			return runs, c.failed(opening, err)
		}
		list, err := rowsOf(ctx, tx, func(rows *sql.Rows, r *candidate) error { return rows.Scan(&r.n, &r.id) },
			"SELECT n, id FROM runs WHERE n > ? ORDER BY n LIMIT ?", last, runsOfCopy)
		for i := 0; i < len(list) && err == nil; i++ {
			last = list[i].n
			err = c.eachTurn(ctx, tx, list[i], f)
		}
		if err != nil {
			return runs, errors.Join(c.failed(opening, err), tx.Rollback())
		}
		if err := tx.Commit(); err != nil {
			return runs, c.failed(opening, err)
		}
		runs += len(list)
		done = len(list) < runsOfCopy
	}
	return runs, nil
}

func (c *Copy) eachTurn(ctx context.Context, tx *sql.Tx, r candidate, f func(run string, events []dag.Event) (changed bool, err error)) error {
	for last := turn(r.n, 0); ; {
		var text []byte
		err := tx.QueryRowContext(ctx, "SELECT n, events FROM turns WHERE n > ? AND n <= ? ORDER BY n LIMIT 1", last, turn(r.n, maxSeq)).Scan(&last, &text)
		if err == sql.ErrNoRows {
			return nil
		}
		if err != nil {
			return err
		}
		events, err := decode(nil, r.id, text, 0)
		if err != nil {
			return err
		}
		changed, err := f(r.id, events)
		if err == nil && changed {
			_, err = tx.ExecContext(ctx, "UPDATE turns SET events = ? WHERE n = ?", eventcode.Append(nil, r.id, events), last)
		}
		if err != nil {
			return err
		}
	}
}
