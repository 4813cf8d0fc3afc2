package sqlite

import (
	"database/sql"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Store is the history in one directory. It is safe for concurrent use. Any number of
// processes may have the same directory open.
type Store struct {
	dir, file string
	self      procid.Identity

	// mu guards the one connection that writes. Every statement runs to its end: if one is
	// interrupted, it is not known whether it was executed.
	mu     sync.Mutex
	writer *sql.DB
	conn   *conn // nil in a Store opened for reading only
	wal    *wal
	moving sync.Mutex // held by moveWAL

	reads *sql.DB // nil in a Store opened for reading only if there is no history yet

	ledgersMu   sync.Mutex
	ledgers     map[int64]*ledger // by the number of the run
	ledgerAdded chan struct{}     // holds one after a ledger was added

	changesMu sync.Mutex // guards lastQuery
	lastQuery changesQuery

	queue localQueue

	claimCalls groupCall[Firing, bool]               // of FiringStore.Claim
	countCalls groupCall[countQuery, ScheduleCounts] // of FiringStore.CountRuns

	stop    chan struct{} // closed by Close
	workers sync.WaitGroup
	closing sync.Once
	closed  error
}

var _ history.Store = (*Store)(nil)

// Intervals and limits; variables because tests cannot wait that long.
var (
	leaseLength    = 30 * time.Second       // how long an owner may go without renewing
	renewEvery     = 5 * time.Second        // how often an owner renews its lease
	watchEvery     = 150 * time.Millisecond // how often to check for cancel requests and answers
	queuePollEvery = 50 * time.Millisecond  // how often to poll for the first run in the queue
	syncEvery      = 50 * time.Millisecond  // how long a commit may wait for the next sync
	busyTimeout    = 5 * time.Second        // how long a statement waits for a lock of another process
)

// Close closes the ledgers that are still open, syncs everything to disk and closes the
// history. Further calls do nothing.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closed = s.close() })
	return s.closed
}

// maxQuitWAL is the largest WAL that Quit leaves behind. The next process has to read all
// of it when it opens the history.
const maxQuitWAL = 512 << 10

// Quit is Close for a process that is about to exit. It closes the ledgers, but leaves the
// file open until the process ends, if the WAL is small: closing would move every commit to
// the main file. That takes several syncs, longer than a short run. That the ledgers were
// closed need not survive a crash of the machine, because their owner does not survive it
// either.
func (s *Store) Quit() error {
	if s.wal == nil || s.wal.size() > maxQuitWAL {
		return s.Close()
	}
	s.closing.Do(s.stopWorkers)
	return s.closed
}

// stopWorkers stops the goroutines and closes the ledgers. SQLite stays open.
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
		s.conn.Close()
		if e := s.writer.Close(); err == nil {
			err = e
		}
	}
	return s.failed(op, err)
}

// openLedgers returns the ledgers in use.
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
