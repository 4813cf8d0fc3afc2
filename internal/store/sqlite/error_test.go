package sqlite

import (
	"testing"

	lib "modernc.org/sqlite/lib"
)

// Every failure of the machine that SQLite tells apart has a sentence, not a number.
func TestCodeOf(t *testing.T) {
	d := &db{file: t.TempDir() + "/history.db"}
	for code, want := range map[int]Code{
		lib.SQLITE_IOERR_SHMMAP: Place, lib.SQLITE_IOERR_SHMOPEN: Place, lib.SQLITE_IOERR_SHMLOCK: Place, lib.SQLITE_IOERR_LOCK: Place, lib.SQLITE_IOERR_MMAP: Place,
		lib.SQLITE_IOERR_WRITE: Unsaved, lib.SQLITE_IOERR_FSYNC: Unsaved, lib.SQLITE_IOERR_TRUNCATE: Unsaved, lib.SQLITE_IOERR_DIR_FSYNC: Unsaved,
		lib.SQLITE_IOERR_SHMSIZE: Full, lib.SQLITE_FULL: Full, lib.SQLITE_CORRUPT: Corrupt, lib.SQLITE_BUSY: Locked, lib.SQLITE_BUSY_SNAPSHOT: Locked,
		lib.SQLITE_IOERR_READ: Failed,
	} {
		if got := d.codeOf(code); got != want || advice[got] == "" {
			t.Errorf("%d is %q, want %q", code, got, want)
		}
	}
}
