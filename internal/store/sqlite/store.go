package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Store is the history in one directory. It is safe for concurrent use. Any number of
// processes may have the same directory open.
type Store struct {
	db *db
	toolState
	self procid.Identity

	ledgersMu   sync.Mutex
	ledgers     map[int64]*ledger // by the number of the run
	ledgerAdded chan struct{}     // holds one after a ledger was added

	queue *localQueue

	firings Firings

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

// Open opens the history in dir, or creates one there: dir/history.db, accessible to this
// user only. It applies migrations. Errors about the history itself are an *Error. ctx
// limits the time to wait for another process that opens the history.
func Open(ctx context.Context, dir string) (*Store, error) {
	s, err := open(dir, func(d *db) error { return d.openToWrite(ctx) })
	if err != nil {
		return nil, err
	}
	s.db.workers.Go(s.db.syncLoop)
	s.db.workers.Go(s.watch)
	s.db.workers.Go(s.queue.pollLoop)
	return s, nil
}

// OpenReadOnly opens the history in dir for reading only. It creates nothing, migrates
// nothing, and works in a directory that cannot be written. If there is no history yet, the
// Store is empty. Methods that write return an *Error with code ReadOnly.
func OpenReadOnly(ctx context.Context, dir string) (*Store, error) {
	return open(dir, func(d *db) error { return d.openToRead(ctx) })
}

func open(dir string, files func(*db) error) (*Store, error) {
	d, err := newDB(dir)
	if err != nil {
		return nil, err
	}
	if err := files(d); err != nil {
		d.closePartial()
		return nil, d.failed(opening, err)
	}
	s := &Store{db: d, toolState: toolState{d}, self: procid.Self(), ledgers: map[int64]*ledger{}, ledgerAdded: make(chan struct{}, 1), queue: newQueue(d)}
	s.firings = Firings{d, s, &groupCall[Firing, bool]{}, &groupCall[countQuery, ScheduleCounts]{}}
	return s, nil
}

// Upgraded reports whether this Open brought a history of an older version to this version.
func (s *Store) Upgraded() bool { return s.db.upgraded }

// Close closes the ledgers that are still open, syncs everything to disk and closes the
// history. Further calls do nothing.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.release()
		s.closed = s.db.close()
	})
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
	if s.db.wal == nil || s.db.wal.size() > maxQuitWAL {
		return s.Close()
	}
	s.closing.Do(s.release)
	return s.closed
}

// release stops the goroutines and closes the ledgers. The database stays open.
func (s *Store) release() {
	s.db.stopWorkers()
	for _, l := range s.openLedgers() {
		l.Close()
	}
	s.db.saveLastCommit()
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
