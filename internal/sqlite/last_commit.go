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
)

// lastCommitName is the file that holds the number of the newest commit that was on the disk
// when a process closed the history. flowrun leaves what is new in history.db-wal, and
// SQLite takes a WAL file that is gone or damaged for an empty one: by this number a loss
// is noticed. It is written after what it speaks of has been synced, and so never
// promises too much after a power cut.
const lastCommitName = "history.last"

const (
	countCommitSQL = "UPDATE commits SET n = n + 1 RETURNING n"
	readCommitsSQL = "SELECT n FROM commits"
)

// saveLastCommit writes the number down. A failure only means that a loss goes unnoticed.
func (s *Store) saveLastCommit() {
	if s.wal == nil {
		return
	}
	n := s.wal.safe.Load()
	if known, err := s.readLastCommit(); err != nil || known >= n {
		return
	}
	if f, err := os.OpenFile(filepath.Join(s.dir, lastCommitName), os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
		f.WriteString(strconv.FormatUint(n, 10) + "\n") // no shorter than before: numbers grow
		f.Close()
	}
}

// readLastCommit is the number in the file, 0 where there is none.
func (s *Store) readLastCommit() (uint64, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, lastCommitName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, nil // a power cut while it was written
	}
	return n, nil
}

// checkComplete checks that the history holds the commits that it held before. noted was read
// before the history was: others may write meanwhile.
func (s *Store) checkComplete(ctx context.Context, c *sql.Conn, noted uint64) error {
	var n uint64
	if err := c.QueryRowContext(ctx, readCommitsSQL).Scan(&n); err != nil {
		return err
	}
	if n < noted {
		return &Error{Lost, s.file, opening, nil}
	}
	return nil
}
