package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"time"

	"github.com/flowrun/flowrun/internal/procid"
)

// watch renews the leases of this process's runs and looks whether others have
// cancelled or taken one. What fails is tried again at the next look: a run that is
// lost cannot be written to anyhow.
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
		if len(ledgers) == 0 { // a service that has nothing to do must not be seen in top
			select {
			case <-s.stop:
				return
			case <-s.ledgerAdded:
			}
			continue
		}
		// By the clock of the boot: after the machine has slept it is high time.
		if now := procid.Uptime(); now-renewed >= renewEvery && s.renew(ledgers) == nil {
			renewed = now
		}
		for _, l := range ledgers {
			if l.hasPendingAnswers() {
				l.deliverAnswers() // what fails is tried again
			}
		}
		if version, err := s.changes(); err == nil && version != seen && s.checkLedgers(ledgers) == nil {
			seen = version
		}
	}
}

// renew extends the leases; which runs are lost is for hear to find.
func (s *Store) renew(ledgers []*ledger) error {
	return s.write(context.Background(), "renew the leases", func(ctx context.Context, c *sql.Conn) error {
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

// Changes is a number that differs after others have written to the history: other
// processes, not this Store. It is cheap while nobody writes at all: then the file that
// commits are appended to looks as it did.
func (s *Store) Changes() (int64, error) {
	const op = "look for changes"
	if s.conn == nil {
		return 0, &Error{ReadOnly, s.file, op, errors.New("it was opened for reading only")}
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

// changesQuery is when Changes last asked SQLite, and how the WAL was then.
type changesQuery struct {
	size     int64
	modified time.Time
	at       time.Time
	answer   int64
}

// unchanged says whether nothing was appended since. A commit within the grain of the file
// system's clock may not show: then SQLite is asked once more.
func (q changesQuery) unchanged(info fs.FileInfo) bool {
	const grain = 50 * time.Millisecond
	return q.size == info.Size() && q.modified.Equal(info.ModTime()) && q.at.Sub(q.modified).Abs() > grain
}

// Writable says why nothing can be recorded now, nil when it can.
func (s *Store) Writable(ctx context.Context) error {
	if s.wal != nil {
		if err := s.wal.failure(); err != nil {
			return s.failed("record", err)
		}
	}
	return s.write(ctx, "record", func(context.Context, *sql.Conn) error { return nil })
}

// changes is a number that differs after other connections have written.
func (s *Store) changes() (n int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.conn.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&n)
	return n, err
}

// checkLedgers tells each ledger what others have done to its run.
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
