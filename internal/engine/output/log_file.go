package output

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/logtimes"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// logFile is the file of a stream. It has no name until it is worth keeping. The end of the step
// decides whether it gets one. If the step runs for longer, a timer in another goroutine names the
// file earlier; hence the lock.
type logFile struct {
	*os.File
	base func() string // returns the path that it will get, before rundir.FirstFree makes it unique

	mu          sync.Mutex
	path        string // current path; "": none
	neverNamed  bool   // it can still get any name
	nameDecided bool   // the decision is final, and the file may be in use for something else
}

// newFile creates a file in the log folder for a stream of one attempt.
func (k *Keeper) newFile(step dag.ID, attempt int, kind rundir.Stream) (*logFile, error) {
	dir, err := k.folder()
	if err != nil {
		return nil, err
	}
	base := func() string { return filepath.Join(dir, rundir.LogName(step, attempt, kind)) }
	if f := k.takeUnnamed(cmp.Or(k.unnamedFolder(), dir)); f != nil {
		return &logFile{File: f, base: base, neverNamed: true}, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the log folder: %w", err)
	}
	l := &logFile{base: base}
	err = rundir.FirstFree(base(), func(path string) (err error) {
		l.path = path
		l.File, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot create a log file: %w", err)
	}
	return l, nil
}

// Creating and removing a file costs about a quarter of what starting a small program does, and
// most steps print nothing on at least one stream. So files that were not written to are reused.
// They are reused only if no process has them open: a process that a step left behind would
// otherwise print into the log of another step. To make that visible, each process gets the file
// opened a second time.

// takeUnnamed returns an empty file without a name, or nil if the file system does not support
// that.
func (k *Keeper) takeUnnamed(dir string) *os.File {
	k.mu.Lock()
	if last := len(k.unused) - 1; last >= 0 {
		f := k.unused[last]
		k.unused = k.unused[:last]
		k.mu.Unlock()
		spareDescriptors().Release(1)
		return f
	}
	k.mu.Unlock()
	return unnamed(dir)
}

// recycle closes a file of size bytes that nobody else has open, or keeps it for reuse.
func (k *Keeper) recycle(l *logFile, size int64) {
	if !l.neverNamed || size > 0 && l.Truncate(0) != nil || !k.keepUnused(l.File) {
		l.Close()
	}
}

// maxUnused is how many files a run keeps for reuse. More than its steps use at the same time help
// nobody.
const maxUnused = 64

// keepUnused reports whether the file is kept for reuse.
func (k *Keeper) keepUnused(f *os.File) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.unused) >= maxUnused || !spareDescriptors().TryAcquire(1) {
		return false
	}
	k.unused = append(k.unused, f)
	return true
}

// spareDescriptors are what the unused files of all runs may hold. They are not among those of the steps: the files of a run
// that waits would stop the steps of other runs for good.
func spareDescriptors() *semaphore.Weighted {
	spare.Do(func() { spare.Weighted = semaphore.NewWeighted(int64(proc.SpareDescriptors())) })
	return spare.Weighted
}

var spare struct {
	sync.Once
	*semaphore.Weighted
}

// closeUnused closes the files that are kept for reuse. The lock is held.
func (k *Keeper) closeUnused() {
	for _, f := range k.unused {
		f.Close()
	}
	spareDescriptors().Release(int64(len(k.unused)))
	k.unused = nil
}

// keep gives the file its name, if it has none yet.
func (l *logFile) keep() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nameDecided = true
	return l.giveName()
}

// giveName gives the file its name. The lock is held.
func (l *logFile) giveName() error {
	if l.path != "" {
		return nil
	}
	return rundir.FirstFree(l.base(), func(path string) error {
		err := link(l.File, path)
		if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(filepath.Dir(path), 0o700) == nil { // the first log of the run
			err = link(l.File, path)
		}
		if err == nil {
			l.path, l.neverNamed = path, false
		}
		return err
	})
}

// drop removes the name, if the file has one.
func (l *logFile) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nameDecided = true
	if l.path != "" {
		os.Remove(l.path)
		l.path = ""
	}
}

// dropUnnamed decides that the file gets no name. It reports false if the file has one already.
func (l *logFile) dropUnnamed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path != "" {
		return false
	}
	l.nameDecided = true
	return true
}

// name returns the present name of the file, "" if it has none.
func (l *logFile) name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path == "" {
		return ""
	}
	return filepath.Base(l.path)
}

// state returns the size of the file and when it was last written; nothing once its name is decided.
func (l *logFile) state() (s logtimes.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.nameDecided {
		s, _ = fileState(l.File)
	}
	return s
}

// SpareLog reports whether a log file can be removed once its text is recorded elsewhere: no process has it open.
func SpareLog(path string) bool {
	f, err := proc.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return isOpenOnce(f)
}

// show gives the file its name early if it is not empty. It reports whether there is nothing left
// to do. It ignores errors: keep will report them.
func (l *logFile) show() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.nameDecided || l.path != "" {
		return true
	}
	if info, err := l.Stat(); err == nil && info.Size() > 0 {
		l.giveName()
	}
	return l.path != ""
}
