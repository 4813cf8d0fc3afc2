package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// lastCommitName is a file with the number of the newest commit that was on disk when a
// process closed the history. flowrun leaves new commits in history.db-wal, and if that
// file is lost or damaged, SQLite treats it as empty. This number shows such a loss. It is
// written after the commit was synced, so it is never too high after a power cut.
const lastCommitName = "history.last"

const (
	countCommitSQL = "UPDATE commits SET n = n + 1 RETURNING n"
	readCommitsSQL = "SELECT n FROM commits"
)

// saveLastCommit writes the number. If that fails, a loss may go unnoticed, nothing more.
func (d *db) saveLastCommit() {
	if d.wal == nil {
		return
	}
	n := d.wal.safe.Load()
	known, err := d.readLastCommit()
	if err != nil || known >= n {
		return
	}
	file := atomicfile.File{Path: filepath.Join(d.dir, lastCommitName), Mode: 0o600, Unsynced: true}
	_ = file.Write(func(f *os.File) error {
		_, err := f.WriteString(strconv.FormatUint(n, 10) + "\n")
		if err == nil && known == 0 { // a power cut leaves the old or the new file, but of the first one perhaps nothing
			err = f.Sync()
		}
		return err
	})
}

// readLastCommit returns the number in the file, 0 if there is none. Another text is an error, because what it was is lost,
// and with it the proof that the history is complete.
func (d *db) readLastCommit() (uint64, error) {
	text, err := ownership.ReadFile(filepath.Join(d.dir, lastCommitName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, &Error{Unsure, d.file, opening, nil}
	}
	return n, nil
}

// checkComplete checks that the history still has the commits that it had, and returns the number
// of its newest one. noted must have been read before, because other processes may write in the
// meantime.
func (d *db) checkComplete(ctx context.Context, c *sql.Conn, noted uint64) (n uint64, err error) {
	if err := c.QueryRowContext(ctx, readCommitsSQL).Scan(&n); err != nil {
		return 0, err
	}
	if n < noted {
		return 0, &Error{Lost, d.file, opening, nil}
	}
	return n, nil
}
