package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
)

// db is the file of a history with its connections. It knows the schema, but not what the rows mean.
type db struct {
	dir, file string

	// mu guards the one connection that writes. Every statement runs to its end: if one is
	// interrupted, it is not known whether it was executed.
	mu     sync.Mutex
	writer *sql.DB
	conn   *conn // nil if it was opened for reading only
	wal    *wal
	moving sync.Mutex // held by moveWAL

	reads *sql.DB // nil if it was opened for reading only and there is no history yet

	upgraded bool // by opening it

	changesMu sync.Mutex // guards lastQuery
	lastQuery changesQuery

	stop    chan struct{} // closed by stopWorkers
	workers sync.WaitGroup
}

func newDB(dir string) (*db, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &db{dir: dir, file: filepath.Join(dir, dbName), stop: make(chan struct{})}, nil
}

// write calls f in a transaction. No other write, of this process or another, comes in between.
func (d *db) write(ctx context.Context, op string, f func(ctx context.Context, c *conn) error) error {
	if d.conn == nil {
		return &Error{ReadOnly, d.file, op, errors.New("it is open for reading only")}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed(op, d.transact(context.WithoutCancel(ctx), f))
}

// transact does the work of write. The caller holds mu.
func (d *db) transact(ctx context.Context, f func(ctx context.Context, c *conn) error) error {
	if _, err := d.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := f(ctx, d.conn)
	var n uint64
	if err == nil {
		err = d.conn.QueryRowContext(ctx, countCommitSQL).Scan(&n)
	}
	if err == nil {
		_, err = d.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		d.conn.ExecContext(ctx, "ROLLBACK") // its error adds nothing to err
		return err
	}
	d.wal.last.Store(n)
	d.wal.committed()
	return nil
}

// stopWorkers stops the goroutines that use the database.
func (d *db) stopWorkers() {
	close(d.stop)
	d.workers.Wait()
}

func (d *db) close() error {
	var err error
	if d.wal != nil {
		err = d.wal.close()
	}
	if d.reads != nil {
		d.reads.Close()
	}
	if d.conn != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.conn.Close()
		if e := d.writer.Close(); err == nil {
			err = e
		}
	}
	return d.failed("close the history", err)
}
