package steps

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// logFile is where a stream goes: a file that has no name until it is worth one.
// The end of the step decides about the name, but a step that runs for long shows
// its files before, from another goroutine; hence the lock.
type logFile struct {
	*os.File
	base string // the name it is to have, without what makes it unique

	mu          sync.Mutex
	path        string // the name it has; "" for none
	neverNamed  bool   // without a name, and never had one, so that it can be given any
	nameDecided bool   // the name is decided, and the file may be in other hands
}

// newLogFile makes a file in the log folder for a stream of one try.
func (s *Session) newLogFile(base string) (*logFile, error) {
	dir, err := s.logFolder()
	if err != nil {
		return nil, err
	}
	base = filepath.Join(dir, base)
	if f := s.takeUnnamed(dir); f != nil {
		return &logFile{File: f, base: base, neverNamed: true}, nil
	}
	l := &logFile{base: base}
	err = firstFree(base, func(path string) (err error) {
		l.path = path
		l.File, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make a log file: %w", err)
	}
	return l, nil
}

// Making and removing a file costs a file system about a quarter of what starting
// a small program does, and most steps print nothing on one stream at least. So a
// file that was not written to is used again, once it is certain that no process
// still has it: one that a step left behind would print into another step's log.
// To be able to tell, a process gets the file opened a second time.

// takeUnnamed is an empty file without a name; nil where the file system has none.
func (s *Session) takeUnnamed(dir string) *os.File {
	s.mu.Lock()
	if last := len(s.unusedFiles) - 1; last >= 0 {
		f := s.unusedFiles[last]
		s.unusedFiles = s.unusedFiles[:last]
		s.mu.Unlock()
		return f
	}
	s.mu.Unlock()
	return unnamed(dir)
}

// recycle closes a file, or keeps it to be used again.
func (s *Session) recycle(l *logFile) {
	if l.neverNamed && isOpenOnce(l.File) && makeEmpty(l.File) {
		s.mu.Lock()
		s.unusedFiles = append(s.unusedFiles, l.File)
		s.mu.Unlock()
		return
	}
	l.Close()
}

func makeEmpty(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && (info.Size() == 0 || f.Truncate(0) == nil)
}

// keep gives the file a name for good.
func (l *logFile) keep() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nameDecided = true
	return l.name()
}

// name gives the file a name. The lock is held.
func (l *logFile) name() error {
	if l.path != "" {
		return nil
	}
	return firstFree(l.base, func(path string) error {
		err := link(l.File, path)
		if err == nil {
			l.path, l.neverNamed = path, false
		}
		return err
	})
}

// drop takes the name away for good.
func (l *logFile) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nameDecided = true
	if l.path != "" {
		os.Remove(l.path)
		l.path = ""
	}
}

// show gives the file its name early if anything is in it. It says whether there
// is nothing more to wait for. That the name cannot be given is for keep to say.
func (l *logFile) show() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.nameDecided || l.path != "" {
		return true
	}
	if info, err := l.Stat(); err == nil && info.Size() > 0 {
		l.name()
	}
	return l.path != ""
}

// When a running step's files are looked at, to be shown: at first soon, then less.
const (
	showSoon  = 200 * time.Millisecond
	showLater = time.Second
)

// showAfter shows files after a while, and goes on until each has its name or its
// step has ended. Stopping the timer spares a short step the look.
func showAfter(pause time.Duration, files [2]*logFile) *time.Timer {
	return time.AfterFunc(pause, func() {
		first, second := files[0].show(), files[1].show()
		if !first || !second {
			showAfter(min(2*pause, showLater), files)
		}
	})
}

// maxNames bounds how often a run may be resumed or a name be taken.
const maxNames = 10_000

// firstFree tries names until one is not taken: a fallback counts as the try it
// follows, and a resumed run may try a step again.
func firstFree(base string, take func(path string) error) error {
	ext := filepath.Ext(base)
	path := base
	for n := 2; ; n++ {
		err := take(path)
		if !errors.Is(err, fs.ErrExist) || n > maxNames {
			return err
		}
		path = fmt.Sprintf("%s~%d%s", strings.TrimSuffix(base, ext), n, ext)
	}
}
