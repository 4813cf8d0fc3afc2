package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// File is the file of a history.
type File struct{ db *db }

// File returns the file of this history.
func (s *Store) File() File { return File{s.db} }

// Changes returns a number that changes when other processes, or other Stores, have written
// to the history. While nobody writes it only stats the WAL file, which is cheap.
func (f File) Changes() (int64, error) {
	const op = "check for changes"
	if f.db.conn == nil {
		return 0, &Error{ReadOnly, f.db.file, op, errors.New("it is open for reading only")}
	}
	f.db.changesMu.Lock()
	defer f.db.changesMu.Unlock()
	now := time.Now()
	info, err := f.db.wal.file.Stat()
	if err == nil && f.db.lastQuery.unchanged(info) {
		return f.db.lastQuery.answer, nil
	}
	n, err2 := f.db.changes()
	if err == nil && err2 == nil {
		f.db.lastQuery = changesQuery{info.Size(), info.ModTime(), now, n}
	}
	return n, f.db.failed(op, err2)
}

// changesQuery is the state of the WAL when Changes last asked SQLite, with the answer.
type changesQuery struct {
	size     int64
	modified time.Time
	at       time.Time
	answer   int64
}

// unchanged reports whether nothing was appended since. A commit shortly after the last one
// may not change the modification time, because the clock of the file system is coarse; in
// that case it returns false.
func (q changesQuery) unchanged(info fs.FileInfo) bool {
	const grain = 50 * time.Millisecond
	return q.size == info.Size() && q.modified.Equal(info.ModTime()) && q.at.Sub(q.modified).Abs() > grain
}

// Writes is the state of the WAL at one moment.
type Writes struct{ changesQuery }

// Writes returns the state of the WAL. Unlike Changes, it also notices what this Store writes.
func (f File) Writes() (Writes, error) {
	if f.db.wal == nil {
		return Writes{}, nil
	}
	info, err := f.db.wal.file.Stat()
	if err != nil {
		return Writes{}, f.db.failed("check for changes", err)
	}
	return Writes{changesQuery{size: info.Size(), modified: info.ModTime(), at: time.Now()}}, nil
}

// Unchanged reports whether nothing was written between w and a later state.
func (w Writes) Unchanged(later Writes) bool {
	const grain = 50 * time.Millisecond // as for changesQuery.unchanged
	return w.size == later.size && w.modified.Equal(later.modified) && w.at.Sub(w.modified).Abs() > grain
}

// Writable returns why nothing can be recorded now, nil if it can.
func (f File) Writable(ctx context.Context) error {
	if f.db.wal != nil {
		if err := f.db.wal.failure(); err != nil {
			return f.db.failed("record", err)
		}
	}
	return f.db.write(ctx, "record", func(context.Context, *conn) error { return nil })
}

// changes returns a number that changes when another connection has written.
func (d *db) changes() (n int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err = d.conn.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&n)
	return n, err
}
