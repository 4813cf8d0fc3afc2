package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/history"
)

const filledRuns = 20

// filled makes a history with some runs and closes it.
func filled(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "state")
	s := openTest(t, dir)
	for i := range filledRuns {
		id := fmt.Sprintf("run%02d", i)
		l := beginTest(t, s, id)
		for seq := range uint64(20) {
			if err := l.Append(context.Background(), event(id, seq+1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// readAll reads everything there is.
func readAll(s *Store) error {
	ctx := context.Background()
	list, err := s.Runs(ctx, history.Query{})
	if err != nil {
		return err
	}
	for _, run := range list {
		if _, err := s.Record(ctx, run.ID); err != nil {
			return err
		}
		if _, err := s.Events(ctx, run.ID, 0); err != nil {
			return err
		}
	}
	return nil
}

// What is wrong with the file is reported by Open and OpenReadOnly, and neither creates
// anything.
func TestDamaged(t *testing.T) {
	master := filled(t)
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, file string)
		code   Code
	}{
		{"missing", func(t *testing.T, file string) { must(t, os.Remove(file)) }, Missing},
		{"emptied", func(t *testing.T, file string) { must(t, os.Truncate(file, 0)) }, Missing},
		{"another empty database", func(t *testing.T, file string) {
			must(t, os.Remove(file))
			foreign(t, file, "PRAGMA user_version = 0; VACUUM")
		}, Missing},
		{"another database", func(t *testing.T, file string) {
			must(t, os.Remove(file))
			foreign(t, file, "CREATE TABLE t (x)")
		}, Foreign},
		{"another application's", func(t *testing.T, file string) { foreign(t, file, "PRAGMA application_id = 7") }, Foreign},
		{"junk", func(t *testing.T, file string) {
			must(t, os.WriteFile(file, bytes.Repeat([]byte("junk"), 5000), 0o600))
		}, Foreign},
		{"truncated", func(t *testing.T, file string) { must(t, os.Truncate(file, 5000)) }, Corrupt},
		{"newer", func(t *testing.T, file string) {
			foreign(t, file, fmt.Sprintf("PRAGMA user_version = %d", len(migrations())+1))
		}, Newer},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			must(t, os.CopyFS(dir, os.DirFS(master)))
			file := filepath.Join(dir, dbName)
			c.damage(t, file)
			before, _ := os.ReadFile(file)
			for _, open := range []func(context.Context, string) (*Store, error){OpenReadOnly, Open, Open} {
				s, err := open(context.Background(), dir)
				if err == nil {
					err = readAll(s)
					s.Close()
				}
				isError(t, err, c.code)
			}
			if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// foreign runs a statement outside the package.
func foreign(t *testing.T, file, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	must(t, err)
	_, err = db.Exec(text)
	must(t, err)
	must(t, db.Close())
}

// A damaged page is found when it is read.
func TestCorruptPage(t *testing.T) {
	dir := filled(t)
	f, err := os.OpenFile(filepath.Join(dir, dbName), os.O_RDWR, 0)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	for at := int64(60 * 1024); at < info.Size(); at += 1024 { // behind the tables themselves
		_, err := f.WriteAt(bytes.Repeat([]byte{0xff}, 512), at)
		must(t, err)
	}
	f.Close()
	s := openTest(t, dir)
	isError(t, readAll(s), Corrupt)
}

// If the WAL file was removed after a kill, everything in the main file is there and the
// history can be used.
func TestNoWAL(t *testing.T) {
	dir := filled(t)
	p := start(t, "append", dir, "later")
	for p.line() != "200" {
	}
	p.kill()
	must(t, os.Remove(filepath.Join(dir, dbName+"-wal")))
	s := openTest(t, dir)
	must(t, readAll(s))
	if found := integrity(t, s); found != "ok" {
		t.Error(found)
	}
	list, err := s.Runs(context.Background(), history.Query{})
	if err != nil || len(list) < filledRuns {
		t.Error(len(list), err)
	}
	beginTest(t, s, "again")
}

// If there is no history yet, OpenReadOnly finds none and creates nothing.
func TestReadNothing(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "state")
	for range 2 {
		s, err := OpenReadOnly(ctx, dir)
		must(t, err)
		if list, err := s.Runs(ctx, history.Query{}); err != nil || len(list) > 0 {
			t.Error(list, err)
		}
		if list, err := s.Audit().Entries(ctx, AuditQuery{}); err != nil || len(list) > 0 {
			t.Error(list, err)
		}
		_, err = s.Record(ctx, "x")
		if !errors.Is(err, history.ErrNoRun) {
			t.Error(err)
		}
		_, err = s.Begin(ctx, &history.Record{ID: "x"})
		isError(t, err, ReadOnly)
		must(t, s.Close())
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Error("something was made:", left)
		}
		os.MkdirAll(dir, 0o700)
	}
}

// Only this user can read the files, and the next Open completes what a killed one left.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?#%41", "state")
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, dbName), nil, 0o600))
	s := openTest(t, dir)
	beginTest(t, s, "r1")
	left, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range left {
		if info, _ := f.Info(); info.Mode().Perm()&0o077 != 0 {
			t.Error(f.Name(), info.Mode())
		}
	}
	if len(left) != 6 {
		t.Error(left)
	}
	must(t, os.Remove(filepath.Join(dir, markerName)))
	must(t, s.Close())
	must(t, openTest(t, dir).Close())
	if _, err := os.Stat(filepath.Join(dir, markerName)); err != nil {
		t.Error("the marker was not written again:", err)
	}
}
