package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

func init() {
	children["open"], children["hold"], children["own"], children["files"] = childOpen, childHold, childOwn, childFiles
}

// childOpen opens a history at the moment its parent says so.
func childOpen(args []string) error {
	os.Stdout.WriteString("ready\n")
	childWait()
	s, err := Open(context.Background(), args[0])
	if err != nil {
		return err
	}
	l, err := s.Begin(context.Background(), &history.Record{ID: args[1], Tool: "test", Created: time.Now()})
	if err != nil {
		return err
	}
	if err := l.Append(context.Background(), event(args[1], 1)); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	os.Stdout.WriteString("done\n")
	return nil
}

// Several processes that create a history at the same time all get it.
func TestOpenedAtOnce(t *testing.T) {
	const processes = 3
	for range sizetest.Of(3, 10, 100) {
		dir := filepath.Join(t.TempDir(), "state")
		var list []*process
		for i := range processes {
			p := start(t, "open", dir, fmt.Sprintf("run%d", i))
			p.expect("ready")
			list = append(list, p)
		}
		for _, p := range list {
			p.stdin.Close()
		}
		for _, p := range list {
			p.expect("done")
		}
		s := openTest(t, dir)
		if runs, err := s.Runs(context.Background(), history.Query{}); err != nil || len(runs) != processes {
			t.Fatal(runs, err)
		}
		s.Close()
	}
}

// childHold keeps others from the file: from writing, or from everything.
func childHold(args []string) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(args[0], dbName))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	for _, text := range args[1:] {
		if _, err := db.Exec(text); err != nil {
			return err
		}
	}
	os.Stdout.WriteString("held\n")
	childWait()
	return nil
}

func TestLocked(t *testing.T) {
	defer func(d time.Duration) { busyTimeout = d }(busyTimeout)
	busyTimeout = 100 * time.Millisecond
	ctx := context.Background()
	dir := filled(t)

	p := start(t, "hold", dir, "PRAGMA locking_mode = EXCLUSIVE", "UPDATE runs SET lease = 0")
	p.expect("held")
	for _, open := range []func(context.Context, string) (*Store, error){Open, OpenReadOnly} {
		_, err := open(ctx, dir)
		isError(t, err, Locked)
	}
	p.kill()

	s := openTest(t, dir)
	l := beginTest(t, s, "r1")
	p = start(t, "hold", dir, "BEGIN IMMEDIATE")
	p.expect("held")
	isError(t, l.Append(ctx, event("r1", 1)), Locked)
	isError(t, l.Append(ctx, finished("r1", 1)), Locked)
	_, err := s.Begin(ctx, &history.Record{ID: "r2"})
	isError(t, err, Locked)
	must(t, readAll(s)) // reading continues
	p.kill()
	must(t, l.Append(ctx, event("r1", 1)))
	must(t, l.Sync(ctx))

	// Somebody else is opening it for a long time.
	f, err := os.Open(filepath.Join(dir, lockName))
	must(t, err)
	defer f.Close()
	if got, err := tryLock(f); !got {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err = Open(short, dir)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// childOwn owns a run, renews its lease all the time and writes until it may not.
func childOwn(args []string) error {
	renewEvery, watchEvery = 50*time.Millisecond, 10*time.Millisecond
	ctx := context.Background()
	s, err := Open(ctx, args[0])
	if err != nil {
		return err
	}
	l, err := s.Begin(ctx, &history.Record{ID: "r1", Tool: "test", Created: time.Now()})
	if err != nil {
		return err
	}
	os.Stdout.WriteString("mine\n")
	for seq := uint64(1); ; seq++ {
		if err := l.Append(ctx, event("r1", seq)); errors.Is(err, history.ErrFenced) {
			break
		} else if err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	<-l.Lost()
	os.Stdout.WriteString("lost\n")
	childWait()
	return s.Close()
}

// An owner that is stopped for longer than its lease can be replaced, and writes nothing
// when it continues.
func TestStoppedOwner(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := openTest(t, dir)
	p := start(t, "own", dir)
	p.expect("mine")
	first := lease(t, s)
	waittest.Until(t, "renewed lease", func() bool { return lease(t, s) != first })
	p.freeze(s)
	_, err := s.Claim(ctx, "r1", last(t, s))
	if !errors.Is(err, history.ErrLive) {
		t.Fatal(err)
	}
	expire := func(ctx context.Context, c *conn) error { // as half a minute would
		_, err := c.ExecContext(ctx, "UPDATE runs SET lease = ?", int64(procid.Uptime()-time.Second))
		return err
	}
	must(t, s.db.write(ctx, "expire", expire))
	if info, err := s.Info(ctx, "r1"); err != nil || info.Status.String() != "interrupted" {
		t.Fatal(info, err)
	}
	l, err := s.Claim(ctx, "r1", last(t, s))
	must(t, err)
	defer l.Close()
	seq := last(t, s)
	must(t, p.cmd.Process.Signal(syscall.SIGCONT))
	p.expect("lost")
	if got := last(t, s); got != seq {
		t.Errorf("the former owner has written: %d, then %d", seq, got)
	}
	must(t, l.Append(ctx, event("r1", seq+1)))
}

// lease is until when r1 has an owner.
func lease(t *testing.T, s *Store) (until int64) {
	t.Helper()
	must(t, s.db.reads.QueryRow("SELECT lease FROM runs WHERE id = 'r1'").Scan(&until))
	return until
}

// freeze stops a child at a moment when it keeps nobody from writing.
func (p *process) freeze(s *Store) {
	p.t.Helper()
	nothing := func(context.Context, *conn) error { return nil }
	var err error
	waittest.Until(p.t, "moment when the child has no lock", func() bool {
		must(p.t, p.cmd.Process.Signal(syscall.SIGSTOP))
		waittest.Until(p.t, "child that is stopped", func() bool {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
			must(p.t, err)
			return strings.Contains(string(stat), ") T ")
		})
		if err = s.db.write(context.Background(), "look", nothing); err != nil {
			must(p.t, p.cmd.Process.Signal(syscall.SIGCONT))
		}
		return err == nil
	}, func() any { return err })
}

// last is the number of the last event of r1.
func last(t *testing.T, s *Store) uint64 {
	t.Helper()
	events, err := s.Events(context.Background(), "r1", 0)
	if err != nil || len(events) == 0 {
		t.Fatal(len(events), err)
	}
	return events[len(events)-1].Seq
}

// childFiles opens a history and then all files it may.
func childFiles(args []string) error {
	must := func(err error) {
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	ctx := context.Background()
	s, err := Open(ctx, args[0])
	must(err)
	l, err := s.Begin(ctx, &history.Record{ID: "r1", Tool: "test", Created: time.Now()})
	must(err)
	must(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 40, Max: 40}))
	var held []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		held = append(held, f)
	}
	// An active run continues; what needs another file says what is missing.
	must(l.Append(ctx, event("r1", 1)))
	must(l.Sync(ctx))
	must(l.Append(ctx, finished("r1", 2)))
	_, err = s.Runs(ctx, history.Query{})
	fmt.Println(code(err))
	_, err = Open(ctx, args[0])
	fmt.Println(code(err))
	for _, f := range held {
		f.Close()
	}
	_, err = s.Runs(ctx, history.Query{})
	must(err)
	must(l.Close())
	must(s.Close())
	fmt.Println("done")
	return nil
}

func code(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Code(fmt.Sprint(err))
}

func TestNoMoreFiles(t *testing.T) {
	p := start(t, "files", t.TempDir())
	p.expect(string(Files))
	p.expect(string(Files))
	p.expect("done")
}

// mount mounts a small file system for the test.
func mount(t *testing.T, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		needtest.Missing(t, "cannot mount a file system, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
			syscall.Unmount(dir, syscall.MNT_DETACH)
		}
	})
	return dir
}

// TestReserve: on a full disk the end of a run is still recorded.
func TestReserve(t *testing.T) {
	ctx := context.Background()
	dir := mount(t, "2m")
	s, err := Open(ctx, dir)
	must(t, err)
	defer s.Close()
	l := beginTest(t, s, "r1")
	must(t, os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 1<<20), 0o600))
	seq := uint64(1)
	for ; err == nil && seq < 100_000; seq++ {
		err = l.Append(ctx, event("r1", seq))
	}
	isError(t, err, Full)
	must(t, l.Append(ctx, finished("r1", seq)))
	must(t, l.Close())
	if info, err := s.Info(ctx, "r1"); err != nil || info.Ended.IsZero() {
		t.Errorf("the end is not there: %+v, %v", info, err)
	}
}

// A full disk stops a run with a clear error and loses nothing; when there is space again,
// everything works.
func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	dir := mount(t, "2m")
	s, err := Open(ctx, dir)
	must(t, err)
	defer s.Close()
	l := beginTest(t, s, "r1")
	must(t, os.Remove(filepath.Join(dir, reserveName)))
	ballast := filepath.Join(dir, "ballast")
	must(t, os.WriteFile(ballast, make([]byte, 1<<20), 0o600))
	seq := uint64(1)
	for ; err == nil && seq < 100_000; seq++ {
		err = l.Append(ctx, event("r1", seq))
	}
	seq--
	isError(t, err, Full)
	isError(t, l.Append(ctx, finished("r1", seq)), Full)
	_, err = s.Begin(ctx, &history.Record{ID: "r2", Tool: "test"})
	isError(t, err, Full)
	if got := last(t, s); got != seq-1 {
		t.Errorf("%d events are there, %d were acknowledged", got, seq-1)
	}
	must(t, os.Remove(ballast))
	must(t, l.Append(ctx, event("r1", seq)))
	must(t, l.Append(ctx, finished("r1", seq+1)))
	must(t, l.Sync(ctx))
	must(t, l.Close())
	if found := integrity(t, s); found != "ok" {
		t.Error(found)
	}
	must(t, s.Close())

	// There is no room for a new history either.
	dir = mount(t, "64k")
	must(t, os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 40<<10), 0o600))
	_, err = Open(ctx, dir)
	isError(t, err, Full)
}

// A history on a disk that cannot be written can be read.
func TestReadOnly(t *testing.T) {
	ctx := context.Background()
	dir := mount(t, "8m")
	remount := func(flags uintptr) {
		t.Helper()
		must(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, ""))
	}
	must(t, os.CopyFS(dir, os.DirFS(filled(t))))
	check := func(runs int) {
		t.Helper()
		_, err := Open(ctx, dir)
		isError(t, err, ReadOnly)
		s, err := OpenReadOnly(ctx, dir)
		must(t, err)
		defer s.Close()
		must(t, readAll(s))
		if list, err := s.Runs(ctx, history.Query{}); err != nil || len(list) != runs {
			t.Error(len(list), err)
		}
		isError(t, s.Cancel(ctx, "run01", "x"), ReadOnly)
		_, err = s.Claim(ctx, "run01", 20)
		isError(t, err, ReadOnly)
	}
	remount(syscall.MS_RDONLY)
	check(filledRuns)

	// What a killed process has left in the WAL file is read as well.
	remount(0)
	p := start(t, "append", dir, "later")
	for p.line() != "5" {
	}
	p.kill()
	remount(syscall.MS_RDONLY)
	check(filledRuns + 1)

	// Without the -shm file that is not possible.
	remount(0)
	must(t, os.Remove(filepath.Join(dir, dbName+"-shm")))
	remount(syscall.MS_RDONLY)
	s, err := OpenReadOnly(ctx, dir)
	if err == nil {
		list, _ := s.Runs(ctx, history.Query{})
		s.Close()
		if len(list) != filledRuns+1 {
			t.Error("a run is missing, and nothing was said")
		}
	} else {
		isError(t, err, ReadOnly)
	}
	remount(0)
}

// A reader sees what a writer writes at the same time.
func TestReadBesideWriter(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := openTest(t, dir)
	r, err := OpenReadOnly(ctx, dir)
	must(t, err)
	defer r.Close()
	l := beginTest(t, s, "r1")
	for seq := range uint64(3) {
		must(t, l.Append(ctx, event("r1", seq+1)))
		if got := last(t, r); got != seq+1 {
			t.Error(got)
		}
	}
}
