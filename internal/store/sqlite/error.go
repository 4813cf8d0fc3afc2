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

// Code is one stable word for what is wrong with a history.
type Code string

// The codes of an Error.
const (
	Missing  Code = "missing"   // the file is gone or empty, although there was a history
	Lost     Code = "lost"      // its newest commits are gone
	Unsure   Code = "unsure"    // the number of its newest commit is damaged
	Foreign  Code = "foreign"   // the file is not a history of flowrun
	Corrupt  Code = "corrupt"   // the file is damaged
	Newer    Code = "newer"     // a newer flowrun wrote it
	Older    Code = "older"     // an older flowrun wrote it, and it was opened for reading only
	Locked   Code = "locked"    // another process has locked it
	ReadOnly Code = "read-only" // it cannot be written
	Full     Code = "full"      // there is no space left
	Files    Code = "files"     // the process has too many open files
	Place    Code = "place"     // the file system cannot do what SQLite needs
	Unsaved  Code = "unsaved"   // the system did not take what was written
	Failed   Code = "failed"    // anything else
)

// advice is the part of a message after the name of the file: what is wrong, and the way
// out.
var advice = map[Code]string{
	Missing:  "is missing or empty, but history.id next to it shows that there was a history; restore the file, or remove history.id to start a new history",
	Lost:     "has lost its newest entries, for example because history.db-wal was deleted or damaged or an old copy was restored; restore history.db-wal, or remove history.last to continue without them",
	Unsure:   "may have lost entries: the file history.last next to it is damaged, which has the number of the newest one; restore history.last, or remove it to continue",
	Foreign:  "is not a history of flowrun; move it away or choose another state directory",
	Corrupt:  "is damaged; stop every flowrun process, then recover what can be read with `sqlite3 history.db .recover`, or move history.db, history.db-wal and history.id away to start a new history",
	Newer:    "was written by a newer version of flowrun; use that version or another state directory",
	Older:    "was written by an older version of flowrun and must be upgraded; run the command once as a user who may write to it",
	Locked:   "is locked by another process; wait until that process has ended (fuser and lsof show it) and try again",
	ReadOnly: "cannot be opened or written; check the permissions of the file and its folder, and how the disk is mounted",
	Full:     "has no space left on its disk; free some space and try again",
	Files:    "cannot be opened because too many files are open; raise the limit (ulimit -n) or run fewer processes at once",
	Place:    "is in a file system that cannot share memory or locks between programs, which SQLite needs (sshfs and other network file systems cannot); use a state directory on a local disk, named by FLOWRUN_STATE_DIR",
	Unsaved:  "cannot be written: a limit for the size of files (ulimit -f) or a quota has been reached, or the disk has failed",
	Failed:   "failed",
}

// Error describes what is wrong with a history, and what to do.
type Error struct {
	Code Code
	File string // path of history.db
	Op   string // what failed, such as "open the history"
	Err  error  // error of SQLite or of the system; nil if the Code says it all
}

// Error names what failed, the file, and the way out.
func (e *Error) Error() string {
	msg := fmt.Sprintf("cannot %s: %s %s", e.Op, e.File, advice[e.Code])
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// failed wraps an error of SQLite or of the system in an Error. It returns other errors,
// which come from this package, unchanged.
func (d *db) failed(op string, err error) error {
	var named *Error
	var of *driver.Error
	var system syscall.Errno
	switch {
	case errors.As(err, &named):
		return err
	case errors.As(err, &of):
		return &Error{d.codeOf(of.Code()), d.file, op, err}
	case errors.As(err, &system):
		return &Error{codeOfSystem(err), d.file, op, err}
	}
	return err
}

func (d *db) codeOf(code int) Code {
	switch {
	case code == lib.SQLITE_IOERR_SHMSIZE:
		return Full // the -shm file could not grow
	case code&0xff == lib.SQLITE_CANTOPEN:
		return d.codeOfOpenFailure()
	}
	switch code {
	case lib.SQLITE_IOERR_SHMMAP, lib.SQLITE_IOERR_SHMOPEN, lib.SQLITE_IOERR_SHMLOCK, lib.SQLITE_IOERR_LOCK, lib.SQLITE_IOERR_MMAP:
		return Place
	case lib.SQLITE_IOERR_WRITE, lib.SQLITE_IOERR_FSYNC, lib.SQLITE_IOERR_TRUNCATE, lib.SQLITE_IOERR_DIR_FSYNC:
		return Unsaved
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

// codeOfOpenFailure returns why SQLite cannot open a file. SQLite does not pass on the
// error of the system, so this function opens the directory itself, as many times as SQLite
// opens files together.
func (d *db) codeOfOpenFailure() Code {
	for range 4 {
		f, err := os.Open(filepath.Dir(d.file))
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
