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
	"time"

	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/internal/os/procid"
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

// Open opens the history in dir, or creates one there: dir/history.db, accessible to this
// user only. It applies migrations. Errors about the history itself are an *Error. ctx
// limits the time to wait for another process that opens the history.
func Open(ctx context.Context, dir string) (*Store, error) {
	s, err := newStore(dir)
	if err != nil {
		return nil, err
	}
	if err := s.openToWrite(ctx); err != nil {
		s.closePartial()
		return nil, s.failed(opening, err)
	}
	s.workers.Go(s.syncLoop)
	s.workers.Go(s.watch)
	s.workers.Go(s.pollQueue)
	return s, nil
}

// OpenReadOnly opens the history in dir for reading only. It creates nothing, migrates
// nothing, and works in a directory that cannot be written. If there is no history yet, the
// Store is empty. Methods that write return an *Error with code ReadOnly.
func OpenReadOnly(ctx context.Context, dir string) (*Store, error) {
	s, err := newStore(dir)
	if err != nil {
		return nil, err
	}
	if err := s.openToRead(ctx); err != nil {
		s.closePartial()
		return nil, s.failed(opening, err)
	}
	return s, nil
}

func newStore(dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &Store{dir: dir, file: filepath.Join(dir, dbName), self: procid.Self(),
		ledgers: map[int64]*ledger{}, queue: newQueue(), ledgerAdded: make(chan struct{}, 1), stop: make(chan struct{})}, nil
}

// closePartial closes what a failed Open has opened.
func (s *Store) closePartial() {
	if s.wal != nil {
		s.wal.release()
	}
	if s.reads != nil {
		s.reads.Close()
	}
	if s.conn != nil {
		s.conn.Close()
	}
	if s.writer != nil {
		s.writer.Close()
	}
}

func (s *Store) openToWrite(ctx context.Context) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	lock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	marked, created, err := s.checkFiles()
	if err != nil {
		return err
	}
	noted, err := s.readLastCommit()
	if err != nil {
		return err
	}
	s.writer, err = sql.Open("sqlite", s.dsn("mode=rw&_pragma=busy_timeout("+milliseconds(busyTimeout)+")"+
		"&_pragma=synchronous(normal)&_pragma=wal_autocheckpoint("+strconv.Itoa(checkpointPages)+")"))
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // a migration must not stop half-way
	c, err := s.writer.Conn(ctx)
	if err != nil {
		return err
	}
	s.conn = &conn{c, map[string]*sql.Stmt{}}
	if err := s.prepare(ctx, marked); err != nil {
		return err
	}
	if created {
		if err := s.beginWAL(ctx); err != nil {
			return err
		}
	}
	n, err := s.checkComplete(ctx, s.conn.Conn, noted)
	if err != nil {
		return err
	}
	if err := s.openWAL(noted > 0 && n == noted, marked, created); err != nil {
		return err
	}
	s.reads, err = sql.Open("sqlite", s.dsn("mode=rw&_query_only=1&_pragma=busy_timeout("+milliseconds(busyTimeout)+")"))
	if err == nil {
		s.reads.SetMaxOpenConns(readers)
		s.reads.SetMaxIdleConns(readers)
	}
	return err
}

// lock makes this process the only one that opens the history.
func (s *Store) lock(ctx context.Context) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(s.dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
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
			err = &Error{Locked, s.file, opening, nil}
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
func (s *Store) checkFiles() (marked, created bool, err error) {
	marked, size, err := s.statFiles()
	switch {
	case err != nil:
		return false, false, err
	case marked && size <= 0:
		return false, false, &Error{Missing, s.file, opening, nil}
	case size >= 0:
		return marked, false, nil
	}
	return false, true, s.create()
}

// statFiles reports whether the marker exists and how large history.db is, -1 if there is
// none.
func (s *Store) statFiles() (marked bool, size int64, err error) {
	for _, file := range []string{s.file, s.file + "-wal", s.file + "-shm", filepath.Join(s.dir, markerName), filepath.Join(s.dir, lockName)} {
		if err := ownership.CheckFile(file); err != nil {
			return false, 0, err
		}
	}
	_, err = os.Stat(filepath.Join(s.dir, markerName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, 0, err
	}
	marked = err == nil
	info, err := os.Stat(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return marked, -1, nil
	case err != nil:
		return false, 0, err
	}
	return marked, info.Size(), nil
}

// dsn returns the name with which the driver opens the file.
func (s *Store) dsn(options string) string {
	path := filepath.ToSlash(s.file)
	if path[0] != '/' {
		path = "/" + path // a drive letter
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: path}
	return u.String() + "?_dqs=0&_error_rc=1&" + options
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
