package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Code says in one stable word what is wrong with a history.
type Code string

// What can be wrong with a history.
const (
	Missing  Code = "missing"   // the file is gone or emptied, although there was a history
	Lost     Code = "lost"      // its newest commits are gone
	Foreign  Code = "foreign"   // the file is something else
	Corrupt  Code = "corrupt"   // the file is damaged
	Newer    Code = "newer"     // a newer flowrun wrote it
	Older    Code = "older"     // an older flowrun wrote it, and it may only be read
	Locked   Code = "locked"    // another process holds it
	ReadOnly Code = "read-only" // it cannot be written
	Full     Code = "full"      // there is no room left
	Files    Code = "files"     // the process may open no more files
	Failed   Code = "failed"    // anything else
)

// advice is what an error says after the file's name: what is wrong, and the way out.
var advice = map[Code]string{
	Missing:  "is missing or empty, but history.id beside it says that there was a history; bring the file back, or remove history.id to begin a new history",
	Lost:     "has lost its newest entries, as when history.db-wal is deleted or damaged or an old copy is put back; bring history.db-wal back, or remove history.last to go on without them",
	Foreign:  "is not a history of flowrun; move it away, or choose another state directory",
	Corrupt:  "is damaged; end every flowrun, then save what can be read with `sqlite3 history.db .recover`, or move history.db, history.db-wal and history.id away to begin a new history",
	Newer:    "was written by a newer flowrun; use that version, or another state directory",
	Older:    "was written by an older flowrun and has to be brought up to date; use a command that writes to it first, as a user who may",
	Locked:   "is locked by another process; wait until it has ended (fuser and lsof name it) and try again",
	ReadOnly: "cannot be opened or written; check the rights to the file and its directory, and how the disk is mounted",
	Full:     "has no room left on its disk; make room and try again",
	Files:    "cannot be opened because too many files are open; raise the limit (ulimit -n) or run less at once",
	Failed:   "failed",
}

// Error says what is wrong with a history, and what to do.
type Error struct {
	Code Code
	File string // history.db with its directory
	Op   string // what could not be done, as in "open the history"
	Err  error  // SQLite's error or the system's; nil where the Code says it all
}

// Error names what could not be done, the file, and the way out.
func (e *Error) Error() string {
	msg := fmt.Sprintf("cannot %s: %s %s", e.Op, e.File, advice[e.Code])
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg
}

// Unwrap is the error beneath.
func (e *Error) Unwrap() error { return e.Err }

// failed gives an error of SQLite or of the system its meaning. Other errors are
// the package's own and stay as they are.
func (s *Store) failed(op string, err error) error {
	var named *Error
	var of *driver.Error
	var system syscall.Errno
	switch {
	case errors.As(err, &named):
		return err
	case errors.As(err, &of):
		return &Error{s.codeOf(of.Code()), s.file, op, err}
	case errors.As(err, &system):
		return &Error{codeOfSystem(err), s.file, op, err}
	}
	return err
}

func (s *Store) codeOf(code int) Code {
	switch {
	case code == lib.SQLITE_IOERR_SHMSIZE:
		return Full // the -shm file could not grow
	case code&0xff == lib.SQLITE_CANTOPEN:
		return s.codeOfOpenFailure()
	}
	switch code & 0xff {
	case lib.SQLITE_CORRUPT:
		return Corrupt
	case lib.SQLITE_NOTADB:
		return Foreign
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return Locked
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return ReadOnly
	case lib.SQLITE_FULL:
		return Full
	}
	return Failed
}

// codeOfOpenFailure is why SQLite cannot open a file: it does not pass on what the system
// said, so the system is asked again, about the directory, and for as many files as
// SQLite opens together.
func (s *Store) codeOfOpenFailure() Code {
	for range 4 {
		f, err := os.Open(filepath.Dir(s.file))
		if err != nil {
			return codeOfSystem(err)
		}
		defer f.Close()
	}
	return ReadOnly
}

func codeOfSystem(err error) Code {
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return Files
	case errors.Is(err, syscall.ENOSPC):
		return Full
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return ReadOnly
	}
	return Failed
}
