package sqlite

import (
	"os"
	"sync"
	"sync/atomic"
)

// wal makes commits durable, many at a time. It syncs the file to which SQLite appends
// commits. After a power cut, all commits up to the last sync are there; of the later ones,
// some may be.
type wal struct {
	file *os.File
	dir  *os.File // kept open, so that no file has to be opened later; nil if the name of file is on disk
	mark func()   // called when it is; nil if the history is marked

	commits atomic.Uint64 // number of commits made
	synced  atomic.Uint64 // how many of them are on disk
	last    atomic.Uint64 // number of the newest counted commit, see last_commit.go
	safe    atomic.Uint64 // number of the newest counted commit that is on disk
	dirty   chan struct{} // holds one if there are commits to sync

	mu     sync.Mutex // held during a sync
	broken atomic.Pointer[error]

	syncs atomic.Int64 // number of syncs, for tests
}

// openWAL opens the WAL file of history.db. SQLite has created it by then. complete says that every
// commit in it was on disk when it was noted: then so was the name of the file, if it is not empty.
func (d *db) openWAL(complete, marked, created bool) error {
	f, err := os.OpenFile(d.file+"-wal", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	d.wal = &wal{file: f, dirty: make(chan struct{}, 1)}
	if marked && complete && d.wal.size() > 0 {
		return nil
	}
	if d.wal.dir, err = os.Open(d.dir); err != nil || marked {
		return err
	}
	d.wal.mark = d.mark
	if created {
		return nil // its first run makes it durable
	}
	return d.wal.flush() // a killed process has created it
}

// committed notes that a commit was made.
func (w *wal) committed() {
	w.commits.Add(1)
	select {
	case w.dirty <- struct{}{}:
	default:
	}
}

// sync returns when everything committed before the call is on disk. One sync runs at a
// time. A caller whose commits were synced while it waited does nothing.
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

// flush syncs the file. The first time it also syncs the directory if the name of the file may be
// new: SQLite removes the file when the last process closes the history.
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
	if w.mark != nil {
		w.mark()
	}
	return nil
}

// failure returns the error of a failed sync, after which the file cannot be trusted: the
// system may have dropped what it could not write, and a second sync would not report that.
func (w *wal) failure() error {
	if p := w.broken.Load(); p != nil {
		return *p
	}
	return nil
}

// size returns the size of the file, 0 if that cannot be found out.
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
