package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/procid"
)

// Store is the history in one directory. It is safe for concurrent use, and any
// number of processes may have the same directory open.
type Store struct {
	dir, file string
	self      procid.Identity

	// mu holds the one connection that writes and what was prepared on it.
	// Everything on it runs to its end: a statement that is interrupted half-way
	// leaves open whether it was done.
	mu         sync.Mutex
	writer     *sql.DB
	conn       *sql.Conn // nil in a Store that only reads
	appendTurn *sql.Stmt
	count      *sql.Stmt // countCommit
	wal        *wal

	reads *sql.DB // nil in a Store that only reads where there is no history yet

	ledgersMu   sync.Mutex
	ledgers     map[int64]*ledger // by the run's number
	ledgerAdded chan struct{}     // holds one when there is a new ledger

	changesMu sync.Mutex // see Changes
	lastQuery changesQuery

	queue localQueue

	claimCalls groupCall[Firing, bool]               // of slots
	countCalls groupCall[countQuery, ScheduleCounts] // at schedules

	stop    chan struct{} // closed by Close
	workers sync.WaitGroup
	closing sync.Once
	closed  error
}

var _ history.Store = (*Store)(nil)

// Variables for the sake of tests, which cannot wait that long.
var (
	leaseLength    = 30 * time.Second       // how long an owner may be silent
	renewEvery     = 5 * time.Second        // how often it renews its lease
	watchEvery     = 150 * time.Millisecond // how often it looks for a cancel
	queuePollEvery = 50 * time.Millisecond  // how often the first in line looks whether its turn has come
	syncEvery      = 50 * time.Millisecond  // how long a commit waits for the disk
	busyTimeout    = 5 * time.Second        // how long a statement waits for another process
)

// write runs f in one transaction that nothing else can come between.
func (s *Store) write(ctx context.Context, op string, f func(ctx context.Context, c *sql.Conn) error) error {
	if s.conn == nil {
		return &Error{ReadOnly, s.file, op, errors.New("it was opened for reading only")}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed(op, s.transact(context.WithoutCancel(ctx), f))
}

// transact is write for a caller that holds mu.
func (s *Store) transact(ctx context.Context, f func(ctx context.Context, c *sql.Conn) error) error {
	if _, err := s.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := f(ctx, s.conn)
	var n uint64
	if err == nil {
		err = s.count.QueryRowContext(ctx).Scan(&n)
	}
	if err == nil {
		_, err = s.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		s.conn.ExecContext(ctx, "ROLLBACK") // says no more than err does
		return err
	}
	s.wal.last.Store(n)
	s.wal.committed()
	return nil
}

// Close gives up what ledgers are still open, puts everything on the disk and
// closes the history. Calling it again does nothing.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closed = s.close() })
	return s.closed
}

// maxQuitWAL is how large the WAL may be that Quit leaves behind. The next process has
// to read all of it when it opens the history.
const maxQuitWAL = 512 << 10

// Quit is Close for a process that ends now. It gives up the ledgers but leaves the
// file to the end of the process, as long as the WAL is small: closing would move
// every commit to the main file, which takes several syncs, longer than a short
// run. Giving up a ledger need not survive the machine, its process does not either.
func (s *Store) Quit() error {
	if s.wal == nil || s.wal.size() > maxQuitWAL {
		return s.Close()
	}
	s.closing.Do(s.stopWorkers)
	return s.closed
}

// stopWorkers stops everything but SQLite.
func (s *Store) stopWorkers() {
	close(s.stop)
	s.workers.Wait()
	for _, l := range s.openLedgers() {
		l.Close()
	}
	s.saveLastCommit()
}

func (s *Store) close() error {
	const op = "close the history"
	s.stopWorkers()
	var err error
	if s.wal != nil {
		err = s.wal.close()
	}
	if s.reads != nil {
		s.reads.Close()
	}
	if s.conn != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.appendTurn.Close()
		s.count.Close()
		s.conn.Close()
		if e := s.writer.Close(); err == nil {
			err = e
		}
	}
	return s.failed(op, err)
}

// openLedgers are the ledgers in use.
func (s *Store) openLedgers() []*ledger {
	s.ledgersMu.Lock()
	defer s.ledgersMu.Unlock()
	list := make([]*ledger, 0, len(s.ledgers))
	for _, l := range s.ledgers {
		list = append(list, l)
	}
	return list
}

func (s *Store) ledger(run int64) *ledger {
	s.ledgersMu.Lock()
	defer s.ledgersMu.Unlock()
	return s.ledgers[run]
}
