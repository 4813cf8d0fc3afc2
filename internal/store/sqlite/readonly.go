package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
)

func (d *db) openToRead(ctx context.Context) error {
	marked, size, err := d.statFiles()
	switch {
	case err != nil:
		return err
	case marked && size <= 0:
		return &Error{Missing, d.file, opening, nil}
	case size <= 0:
		return nil
	}
	err = d.openReads(ctx, marked, "mode=ro&_pragma=busy_timeout("+milliseconds(busyTimeout)+")")
	var e *Error
	if !errors.As(d.failed(opening, err), &e) || e.Code != ReadOnly {
		return err
	}
	// To read a WAL file SQLite needs a -shm file, which cannot be created here. If there
	// is no WAL file, no process has the history open, and the file can be read without
	// locks.
	if info, walErr := os.Stat(d.file + "-wal"); walErr == nil && info.Size() > 0 {
		return err
	}
	return d.openReads(ctx, marked, "mode=ro&immutable=1")
}

// openReads opens the file for reading, if it is a history of this version.
func (d *db) openReads(ctx context.Context, marked bool, options string) error {
	noted, err := d.readLastCommit()
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", d.dsn(options))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	c, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return err
	}
	version, err := d.version(ctx, c, marked)
	if err == nil && version == len(migrations()) {
		_, err = d.checkComplete(ctx, c, noted)
	}
	c.Close()
	switch {
	case err == nil && version > 0 && version < len(migrations()):
		err = &Error{Older, d.file, opening, nil}
		fallthrough
	case err != nil, version == 0: // 0: another process is creating it
		db.Close()
		return err
	}
	d.reads = db
	return nil
}
