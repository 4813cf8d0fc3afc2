package sqlite

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Health is the result of Check.
type Health struct {
	Version  int      // of the schema; 0 if there is no history yet
	Size     int64    // of history.db, bytes
	WAL      int64    // of the WAL file, which will be moved into history.db, bytes
	Problems []string // problems in the file, as SQLite reports them
}

// maxProblems is how many problems Check returns.
const maxProblems = 5

// Check reads the whole history and returns the problems that it finds: a page that nobody reads
// for months must not be damaged either. A gigabyte takes three seconds of CPU time, and as long
// as the disk needs to read it. It writes nothing.
func (f File) Check(ctx context.Context) (Health, error) {
	const op = "check the history"
	var h Health
	if f.db.reads == nil {
		return h, nil
	}
	if info, err := os.Stat(f.db.file); err == nil {
		h.Size = info.Size()
	}
	if info, err := os.Stat(f.db.file + "-wal"); err == nil {
		h.WAL = info.Size()
	}
	if err := f.db.reads.QueryRowContext(ctx, "PRAGMA user_version").Scan(&h.Version); err != nil {
		return h, f.db.failed(op, err)
	}
	found, err := rowsOf(ctx, f.db.reads, scanColumn[string], fmt.Sprintf("PRAGMA quick_check(%d)", maxProblems))
	if err == nil && strings.Join(found, "") != "ok" {
		h.Problems = found
	}
	return h, f.db.failed(op, err)
}
