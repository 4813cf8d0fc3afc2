package sqlite

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// wal puts commits on the disk, many at a time. It syncs the file that SQLite
// appends commits to; what has been synced comes back after a power cut, up to the
// first commit that has not.
type wal struct {
	file *os.File
	dir  *os.File // held, so that no file has to be opened later; nil once it is synced

	commits atomic.Uint64 // how many were made
	synced  atomic.Uint64 // how many of them are on the disk
	last    atomic.Uint64 // the number of the newest that is counted, see last_commit.go
	safe    atomic.Uint64 // the newest such number that is on the disk
	dirty   chan struct{} // holds one when commits wait for the loop

	mu     sync.Mutex // one sync at a time
	broken atomic.Pointer[error]

	syncs atomic.Int64 // how often the disk was asked, for tests
}

// openWAL opens the file that belongs to history.db; SQLite has made it by then.
func openWAL(file string) (*wal, error) {
	f, err := os.OpenFile(file+"-wal", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		f.Close()
		return nil, err
	}
	return &wal{file: f, dir: dir, dirty: make(chan struct{}, 1)}, nil
}

// committed notes a commit.
func (w *wal) committed() {
	w.commits.Add(1)
	select {
	case w.dirty <- struct{}{}:
	default:
	}
}

// loop syncs every so often while there is something to sync.
func (w *wal) loop(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-w.dirty:
		}
		select {
		case <-stop:
			return
		case <-time.After(syncEvery):
			w.sync() // a failure is kept for whoever writes next
		}
	}
}

// sync returns when everything committed before it is on the disk. Callers wait for
// one another, and one that finds its commits covered meanwhile does nothing.
func (w *wal) sync() error {
	want := w.commits.Load()
	if w.synced.Load() >= want {
		return w.failure()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.failure(); err != nil || w.synced.Load() >= want {
		return err
	}
	last, covered := w.last.Load(), w.commits.Load()
	passPoint("sync-before")
	if err := w.flush(); err != nil {
		w.broken.Store(&err)
		return err
	}
	passPoint("sync-after")
	w.safe.Store(last)
	w.synced.Store(covered)
	return nil
}

// flush syncs the file, and the first time its name as well, which is new: SQLite
// removes the file when the last process closes the history.
func (w *wal) flush() error {
	w.syncs.Add(1)
	if err := w.file.Sync(); err != nil || w.dir == nil {
		return err
	}
	w.syncs.Add(1)
	if err := syncDir(w.dir); err != nil {
		return err
	}
	w.dir.Close()
	w.dir = nil
	return nil
}

// failure is why the file can be trusted no more: after a failed sync the system
// may have dropped what it could not write, and a second sync would not tell.
func (w *wal) failure() error {
	if p := w.broken.Load(); p != nil {
		return *p
	}
	return nil
}

// size is how large the file is.
func (w *wal) size() int64 {
	info, err := w.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

func (w *wal) close() error {
	err := w.sync()
	w.release()
	return err
}

func (w *wal) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.file.Close()
	if w.dir != nil {
		w.dir.Close()
	}
}
