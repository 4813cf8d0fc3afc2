package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/os/ownership"
)

const (
	dbName     = "history.db"
	lockName   = "history.lock"
	markerName = "history.id"

	opening = "open the history"

	// lockWait limits how long Open waits for another process that opens or migrates the
	// same history.
	lockWait = 30 * time.Second

	readers = 4 // largest number of connections for reading
)

// closePartial closes what a failed Open has opened.
func (d *db) closePartial() {
	if d.wal != nil {
		d.wal.release()
	}
	if d.reads != nil {
		d.reads.Close()
	}
	if d.conn != nil {
		d.conn.Close()
	}
	if d.writer != nil {
		d.writer.Close()
	}
}

func (d *db) openToWrite(ctx context.Context) error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	lock, err := d.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	marked, created, err := d.checkFiles()
	if err != nil {
		return err
	}
	noted, err := d.readLastCommit()
	if err != nil {
		return err
	}
	d.writer, err = sql.Open("sqlite", d.dsn("mode=rw&_pragma=busy_timeout("+milliseconds(busyTimeout)+")"+
		"&_pragma=synchronous(normal)&_pragma=wal_autocheckpoint("+strconv.Itoa(checkpointPages)+")"))
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // a migration must not stop half-way
	c, err := d.writer.Conn(ctx)
	if err != nil {
		return err
	}
	d.conn = &conn{c, map[string]*sql.Stmt{}}
	if err := d.prepare(ctx, marked); err != nil {
		return err
	}
	if created {
		if err := d.beginWAL(ctx); err != nil {
			return err
		}
	}
	n, err := d.checkComplete(ctx, d.conn.Conn, noted)
	if err != nil {
		return err
	}
	if err := d.openWAL(noted > 0 && n == noted, marked, created); err != nil {
		return err
	}
	d.reads, err = sql.Open("sqlite", d.dsn("mode=rw&_query_only=1&_pragma=busy_timeout("+milliseconds(busyTimeout)+")"))
	if err == nil {
		d.reads.SetMaxOpenConns(readers)
		d.reads.SetMaxIdleConns(readers)
	}
	return err
}

// lock makes this process the only one that opens the history.
func (d *db) lock(ctx context.Context) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(d.dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockWait); ; {
		got, err := tryLock(f)
		switch {
		case got:
			return f, nil
		case err != nil:
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case time.Now().After(end):
			err = &Error{Locked, d.file, opening, nil}
		default:
			time.Sleep(5 * time.Millisecond)
			continue
		}
		f.Close()
		return nil, err
	}
}

// checkFiles reports whether there was a history here before, and creates one if there is none.
// SQLite itself would take a missing or empty file for a new one at any time.
func (d *db) checkFiles() (marked, created bool, err error) {
	marked, size, err := d.statFiles()
	switch {
	case err != nil:
		return false, false, err
	case marked && size <= 0:
		return false, false, &Error{Missing, d.file, opening, nil}
	case size >= 0:
		return marked, false, nil
	}
	return false, true, d.create()
}

// statFiles reports whether the marker exists and how large history.db is, -1 if there is
// none.
func (d *db) statFiles() (marked bool, size int64, err error) {
	if _, err := os.Stat(d.dir); errors.Is(err, syscall.ENOTDIR) { // below a file, such as a home that is /dev/null
		return false, -1, nil
	}
	for _, file := range []string{d.file, d.file + "-wal", d.file + "-shm", filepath.Join(d.dir, markerName), filepath.Join(d.dir, lockName)} {
		if err := ownership.CheckFile(file); err != nil {
			return false, 0, err
		}
	}
	_, err = os.Stat(filepath.Join(d.dir, markerName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, 0, err
	}
	marked = err == nil
	info, err := os.Stat(d.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return marked, -1, nil
	case err != nil:
		return false, 0, err
	}
	return marked, info.Size(), nil
}

// dsn returns the name with which the driver opens the file.
func (d *db) dsn(options string) string {
	path := filepath.ToSlash(d.file)
	if path[0] != '/' {
		path = "/" + path // a drive letter
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: path}
	return u.String() + "?_dqs=0&_error_rc=1&" + options
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
