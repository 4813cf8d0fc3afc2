package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/store/sqlite/schema"
)

// migrations are those of the schema; tests have more.
var migrations = schema.Migrations

// prepare brings the file to the schema of this version. The caller holds the lock.
func (d *db) prepare(ctx context.Context, marked bool) error {
	version, err := d.version(ctx, d.conn.Conn, marked)
	if err != nil {
		return err
	}
	if version == 0 {
		// They have an effect only before the first table is created.
		if _, err := d.conn.Conn.ExecContext(ctx, "PRAGMA page_size = 1024; PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
			return err
		}
	}
	if _, err := d.conn.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if err := d.migrate(ctx, version); err != nil {
		return err
	}
	if version > 0 {
		d.upgraded = version < len(migrations())
		return nil
	}
	// SQLite creates the WAL file when the database is first read.
	_, err = d.version(ctx, d.conn.Conn, marked)
	return err
}

// version returns how many migrations were applied to the file; 0 for a new file.
func (d *db) version(ctx context.Context, c *sql.Conn, marked bool) (int, error) {
	var application, version, tables int
	for _, q := range []struct {
		sql string
		to  *int
	}{
		{"PRAGMA application_id", &application},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_schema", &tables},
	} {
		if err := c.QueryRowContext(ctx, q.sql).Scan(q.to); err != nil {
			return 0, err
		}
	}
	empty := application == 0 && version == 0 && tables == 0
	switch {
	case empty && marked:
		return 0, &Error{Missing, d.file, opening, nil}
	case empty:
		return 0, nil
	case application != schema.ApplicationID || version <= 0 || tables == 0:
		return 0, &Error{Foreign, d.file, opening, nil}
	case version > len(migrations()):
		return 0, &Error{Newer, d.file, opening,
			fmt.Errorf("its version is %d, this flowrun supports %d", version, len(migrations()))}
	}
	return version, nil
}

// migrate applies the migrations after version in one transaction, together with the new
// version number. A process that is killed in between leaves no intermediate version, which
// readers would reject.
func (d *db) migrate(ctx context.Context, version int) error {
	if version == len(migrations()) {
		return nil
	}
	_, err := d.conn.Conn.ExecContext(ctx, fmt.Sprintf("BEGIN IMMEDIATE;\n%s;\nUPDATE commits SET n = n + 1;\nPRAGMA user_version = %d;\nCOMMIT",
		strings.Join(migrations()[version:], ";\n"), len(migrations())))
	if err != nil {
		d.conn.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

// mark writes history.id after the history and its name are on disk. From then on an empty
// history.db is known to be an error. If that fails, the next Open does it.
func (d *db) mark() {
	if parent, err := os.Open(filepath.Dir(d.dir)); err == nil { // this user may not be allowed to read it
		syncDir(parent)
		parent.Close()
	}
	os.WriteFile(filepath.Join(d.dir, markerName), []byte("history.db next to this file contains the history of flowrun. Without this file, a\n"+
		"missing or empty history.db would be treated as a new one.\n"), 0o600)
}

// checkpoint moves everything from the WAL to the main file, and truncates both. done is
// false if another process kept it from finishing.
func (d *db) checkpoint(ctx context.Context) (done bool, err error) {
	var busy, pages, moved int
	err = d.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	return busy == 0, err
}
