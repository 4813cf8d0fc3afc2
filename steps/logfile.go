package steps

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/dag"
)

// logFile is where a stream goes: a file that has no name until it is worth one.
type logFile struct {
	*os.File
	base string // the name it is to have, without what makes it unique
	path string // the name it has; "" for none
	born bool   // without a name, so that it can be given any
}

// newLogFile makes a file in the log folder for a stream of one try.
func (s *Session) newLogFile(base string) (*logFile, error) {
	dir, err := s.logFolder()
	if err != nil {
		return nil, err
	}
	base = filepath.Join(dir, base)
	if f := s.takeUnnamed(dir); f != nil {
		return &logFile{File: f, base: base, born: true}, nil
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
	if last := len(s.stock) - 1; last >= 0 {
		f := s.stock[last]
		s.stock = s.stock[:last]
		s.mu.Unlock()
		return f
	}
	s.mu.Unlock()
	return unnamed(dir)
}

// giveBack closes a file, or keeps it to be used again.
func (s *Session) giveBack(l *logFile) {
	if l.born && l.path == "" && nobodyElseHas(l.File) && emptied(l.File) {
		s.mu.Lock()
		s.stock = append(s.stock, l.File)
		s.mu.Unlock()
		return
	}
	l.Close()
}

func emptied(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && (info.Size() == 0 || f.Truncate(0) == nil)
}

// keep gives the file a name.
func (l *logFile) keep() error {
	if l.path != "" {
		return nil
	}
	return firstFree(l.base, func(path string) error {
		err := link(l.File, path)
		if err == nil {
			l.path = path
		}
		return err
	})
}

// drop takes the name away again.
func (l *logFile) drop() {
	if l.path != "" {
		os.Remove(l.path)
		l.path = ""
	}
}

// manyTries bounds how often a run may be resumed or a name be taken.
const manyTries = 10_000

// firstFree tries names until one is not taken: a fallback counts as the try it
// follows, and a resumed run may try a step again.
func firstFree(base string, take func(path string) error) error {
	ext := filepath.Ext(base)
	path := base
	for n := 2; ; n++ {
		err := take(path)
		if !errors.Is(err, fs.ErrExist) || n > manyTries {
			return err
		}
		path = fmt.Sprintf("%s~%d%s", strings.TrimSuffix(base, ext), n, ext)
	}
}

// logName is the file name of a stream: the step's path with every byte that
// could mean something to a file system or a terminal written as %XX, the try
// when it is not the first. No two streams share one: '~' is never a path's own.
func logName(path dag.ID, attempt int, s Streams) string {
	const safe = "-_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	const most = 180 // bytes; file systems take 255
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; strings.IndexByte(safe, c) >= 0 && (c != '.' || i > 0) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	name := b.String()
	if len(name) > most {
		name = fmt.Sprintf("%s~%x", name[:most], sha256.Sum256([]byte(path)))[:most+17]
	}
	if attempt > 1 {
		name = fmt.Sprintf("%s~try%d", name, attempt)
	}
	if s == Stderr {
		return name + ".err"
	}
	return name + ".out"
}
