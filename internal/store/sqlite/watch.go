package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"time"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// watch renews the leases of this process's runs, and checks whether others have cancelled
// or claimed one. A failed write is retried the next time; that is safe, because a run that
// was lost cannot be written to.
func (s *Store) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	renewed, seen := procid.Uptime(), int64(-1)
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		ledgers := s.openLedgers()
		if len(ledgers) == 0 { // an idle service must not use CPU time
			select {
			case <-s.stop:
				return
			case <-s.ledgerAdded:
			}
			continue
		}
		// By the clock of the boot, which counts the time in which the machine slept.
		if now := procid.Uptime(); now-renewed >= renewEvery && s.renew(ledgers) == nil {
			renewed = now
		}
		for _, l := range ledgers {
			if l.hasPendingAnswers() {
				l.deliverAnswers() // if it fails, the next round tries again
			}
		}
		if version, err := s.changes(); err == nil && version != seen && s.checkLedgers(ledgers) == nil {
			seen = version
		}
	}
}

// renew extends the leases. checkLedgers finds out which runs are lost.
func (s *Store) renew(ledgers []*ledger) error {
	return s.write(context.Background(), "renew the leases", func(ctx context.Context, c *conn) error {
		_, _, lease := s.ownership()
		for _, l := range ledgers {
			_, err := c.ExecContext(ctx, "UPDATE runs SET lease = ? WHERE n = ? AND epoch = ? AND owner IS NOT NULL", lease, l.run, l.epoch)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Changes returns a number that changes when other processes, or other Stores, have written
// to the history. While nobody writes it only stats the WAL file, which is cheap.
func (s *Store) Changes() (int64, error) {
	const op = "check for changes"
	if s.conn == nil {
		return 0, &Error{ReadOnly, s.file, op, errors.New("it is open for reading only")}
	}
	s.changesMu.Lock()
	defer s.changesMu.Unlock()
	now := time.Now()
	info, err := s.wal.file.Stat()
	if err == nil && s.lastQuery.unchanged(info) {
		return s.lastQuery.answer, nil
	}
	n, err2 := s.changes()
	if err == nil && err2 == nil {
		s.lastQuery = changesQuery{info.Size(), info.ModTime(), now, n}
	}
	return n, s.failed(op, err2)
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
func (s *Store) Writes() (Writes, error) {
	if s.wal == nil {
		return Writes{}, nil
	}
	info, err := s.wal.file.Stat()
	if err != nil {
		return Writes{}, s.failed("check for changes", err)
	}
	return Writes{changesQuery{size: info.Size(), modified: info.ModTime(), at: time.Now()}}, nil
}

// Unchanged reports whether nothing was written between w and a later state.
func (w Writes) Unchanged(later Writes) bool {
	const grain = 50 * time.Millisecond // as for changesQuery.unchanged
	return w.size == later.size && w.modified.Equal(later.modified) && w.at.Sub(w.modified).Abs() > grain
}

// Writable returns why nothing can be recorded now, nil if it can.
func (s *Store) Writable(ctx context.Context) error {
	if s.wal != nil {
		if err := s.wal.failure(); err != nil {
			return s.failed("record", err)
		}
	}
	return s.write(ctx, "record", func(context.Context, *conn) error { return nil })
}

// changes returns a number that changes when another connection has written.
func (s *Store) changes() (n int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.conn.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&n)
	return n, err
}

// checkLedgers notifies each ledger of what others have done to its run.
func (s *Store) checkLedgers(ledgers []*ledger) error {
	for _, l := range ledgers {
		var epoch int
		var cancel sql.NullString
		err := s.reads.QueryRow("SELECT epoch, cancel FROM runs WHERE n = ?", l.run).Scan(&epoch, &cancel)
		switch {
		case errors.Is(err, sql.ErrNoRows), err == nil && epoch != l.epoch:
			l.fence()
		case err != nil:
			return err
		case cancel.Valid:
			l.requestCancel(cancel.String)
		}
		if err := l.deliverAnswers(); err != nil {
			return err
		}
	}
	return nil
}
