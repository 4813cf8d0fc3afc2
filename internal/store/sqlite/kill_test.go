package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/store/sqlite/schema"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// childAppend owns a run of its own and prints the number of each event once it was
// acknowledged.
func childAppend(args []string) error {
	ctx := context.Background()
	s, err := Open(ctx, args[0])
	if err != nil {
		return err
	}
	l, err := s.Begin(ctx, &history.Record{ID: args[1], Tool: "test", Created: time.Now()})
	if err != nil {
		return err
	}
	for seq := uint64(1); ; seq++ {
		if err := l.Append(ctx, event(args[1], seq)); err != nil {
			return err
		}
		os.Stdout.WriteString(strconv.FormatUint(seq, 10) + "\n")
	}
}

// Whatever was acknowledged before kill -9 is there, without gaps, and the run has no owner
// any more.
func TestKilled(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	acknowledged := 0
	for i := range sizetest.Of(5, 20, 300) {
		id := fmt.Sprintf("run%d", i)
		p := start(t, "append", dir, id)
		last := ""
		if i%2 == 0 { // every other one is surely writing, however slow the machine is
			last = p.line()
		}
		time.AfterFunc(time.Duration(5+rand.IntN(60))*time.Millisecond, func() { p.cmd.Process.Kill() })
		for line := p.line(); line != ""; line = p.line() {
			last = line
		}
		p.kill()
		if strings.HasPrefix(last, "error") {
			t.Fatal(last)
		}
		s, err := Open(ctx, dir)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := strconv.Atoi(last)
		acknowledged += n
		events, err := s.Events(ctx, id, 0)
		if n == 0 && errors.Is(err, history.ErrNoRun) {
			s.Close()
			continue
		}
		if err != nil || len(events) < n || len(events) > n+1 {
			t.Fatalf("%d events were acknowledged, %d are there (%v)", n, len(events), err)
		}
		for i, e := range events {
			if e.Seq != uint64(i)+1 {
				t.Fatalf("event %d has the number %d", i+1, e.Seq)
			}
		}
		info, err := s.Info(ctx, id)
		if err != nil || info.Status.String() != "interrupted" || info.Rebooted {
			t.Fatalf("%+v, %v", info, err)
		}
		l, err := s.Claim(ctx, id, uint64(len(events)))
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		if found := integrity(t, s); found != "ok" {
			t.Fatal(found)
		}
		s.Close()
	}
	if acknowledged == 0 {
		t.Error("no child has written anything")
	}
	t.Log(acknowledged, "events were acknowledged and are there")
}

// slowMigration is a migration that takes some time over a filled table.
const slowMigration = `
CREATE TABLE copies (n INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
INSERT INTO copies SELECT n, hex(randomblob(200)) FROM turns;
ALTER TABLE runs ADD COLUMN extra TEXT NOT NULL DEFAULT 'x';
UPDATE runs SET extra = id;`

func childMigrate(args []string) error {
	migrations = func() []string { return append(schema.Migrations(), slowMigration) }
	os.Stdout.WriteString("go\n")
	s, err := Open(context.Background(), args[0])
	if err != nil {
		return err
	}
	os.Stdout.WriteString("done\n")
	return s.Close()
}

// A migration that kill -9 interrupts is applied completely or not at all.
func TestMigrationKilled(t *testing.T) {
	ctx := context.Background()
	master := t.TempDir()
	s := openTest(t, master)
	l := beginTest(t, s, "r1")
	rows := sizetest.Of(500, 3000, 5000)
	for seq := range uint64(rows) {
		if err := l.Append(ctx, event("r1", seq+1)); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	s.Close()
	var before, after int
	for i := range sizetest.Of(3, 10, 200) {
		dir := filepath.Join(t.TempDir(), "state")
		if err := os.CopyFS(dir, os.DirFS(master)); err != nil {
			t.Fatal(err)
		}
		p := start(t, "migrate", dir)
		p.expect("go")
		time.Sleep(time.Duration(i%10) * 10 * time.Millisecond)
		p.kill()

		s, err := Open(ctx, dir)
		switch e, _ := err.(*Error); {
		case err == nil:
			before++
			if tables := tables(t, s); strings.Contains(tables, "copies") {
				t.Fatal("a part of the migration was done:", tables)
			}
		case e != nil && e.Code == Newer:
			after++
		default:
			t.Fatal(err)
		}
		if s != nil {
			s.Close()
		}
		migrateTest(t, dir, rows)
	}
	t.Log(before, "were killed before the commit,", after, "after")
}

// All migrations that a file lacks are one step: if a later one fails, no earlier one is
// applied, and a new file never has a version in between.
func TestMigrationsAtOnce(t *testing.T) {
	ctx := context.Background()
	old := migrations
	defer func() { migrations = old }()
	dir := filepath.Join(t.TempDir(), "state")
	migrations = func() []string { return append(schema.Migrations(), "CREATE TABLE broken (") }
	if s, err := Open(ctx, dir); err == nil {
		s.Close()
		t.Fatal("the broken migration was done")
	}
	migrations = old
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, dbName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var version, tables int
	if err := db.QueryRow("SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").Scan(&version, &tables); err != nil || version != 0 || tables != 0 {
		t.Errorf("version %d with %d tables was left (%v)", version, tables, err)
	}
}

// migrateTest applies the extra migration and looks that everything is there.
func migrateTest(t *testing.T, dir string, rows int) {
	t.Helper()
	old := migrations
	defer func() { migrations = old }()
	migrations = func() []string { return append(schema.Migrations(), slowMigration) }
	s, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var copies int
	var extra string
	err = s.db.reads.QueryRow("SELECT (SELECT count(*) FROM copies), extra FROM runs").Scan(&copies, &extra)
	if err != nil || copies != rows || extra != "r1" {
		t.Fatal(copies, extra, err)
	}
	if found := integrity(t, s); found != "ok" {
		t.Fatal(found)
	}
}

func tables(t *testing.T, s *Store) (list string) {
	t.Helper()
	if err := s.db.reads.QueryRow("SELECT group_concat(name) FROM sqlite_schema").Scan(&list); err != nil {
		t.Fatal(err)
	}
	return list
}
