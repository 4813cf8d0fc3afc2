package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

func TestChoose(t *testing.T) {
	now := time.Now()
	hours := func(h time.Duration) time.Time { return now.Add(-h * time.Hour) }
	newest := []candidate{ // newest first
		{id: "e", at: hours(0), size: 10},
		{id: "d", at: hours(1), size: 10, lives: true},
		{id: "c", at: hours(5), size: 10},
		{id: "b", at: hours(3), size: 10}, // ended later than it began
		{id: "a", at: hours(9), size: 10},
	}
	for _, c := range []struct {
		p    Policy
		want string
	}{
		{Policy{}, ""},
		{Policy{OlderThan: 4 * time.Hour}, "a c"},
		{Policy{OlderThan: time.Minute}, "a b c"},
		{Policy{Keep: 3}, "a b"},
		{Policy{Keep: 1}, "a b c"},
		{Policy{Keep: 5}, ""},
		{Policy{MaxSize: 100}, ""},
		{Policy{MaxSize: 85}, "a b"},
		{Policy{MaxSize: 1}, "a b c e"},
		{Policy{OlderThan: 8 * time.Hour, Keep: 3}, "a b"},
		{Policy{OlderThan: 8 * time.Hour, MaxSize: 80}, "a b"},
	} {
		var runs []candidate
		for i, r := range slices.Backward(newest) {
			r.extra = c.p.Keep > 0 && i >= c.p.Keep
			runs = append(runs, r)
		}
		list, err := choose(runs, c.p, now, 100, func(r candidate) (int64, error) { return r.size, nil })
		var ids []string
		for _, r := range list {
			ids = append(ids, r.id)
		}
		if got := strings.Join(ids, " "); err != nil || got != c.want {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

// TestPruneManyRuns: to find what to remove from a long history, Prune reads what it removes
// and a number of runs that does not grow with the history.
func TestPruneManyRuns(t *testing.T) {
	const many = 20_000
	ctx, now := context.Background(), time.Now()
	s := openTest(t, t.TempDir())
	manyRuns(t, s, many, now, time.Hour) // the time that the test takes makes no run too old
	for _, c := range []struct {
		q    history.Query
		want int
	}{{history.Query{Limit: 20}, many}, {history.Query{Tool: "tool7"}, many / 50}, {history.Query{Since: now.Add(-90 * time.Minute)}, 2}} {
		if n, known, err := s.Count(ctx, c.q); n != c.want || !known || err != nil {
			t.Errorf("%+v: %d runs, want %d; %t, %v", c.q, n, c.want, known, err)
		}
	}
	if _, known, err := s.Count(ctx, history.Query{Status: []dag.Status{dag.Failed}}); known || err != nil {
		t.Error(known, err)
	}
	for _, c := range []struct {
		p            Policy
		read, remove int
	}{
		{Policy{Keep: many}, youngInARow, 0},
		{Policy{Keep: many - 100}, 100 + youngInARow, 100},
		{Policy{OlderThan: (many-200)*time.Hour - time.Minute}, 200 + youngInARow, 200},
		{Policy{OlderThan: many * time.Hour}, youngInARow, 0},
		{Policy{Keep: many - 100, OlderThan: (many-200)*time.Hour - time.Minute}, 200 + youngInARow, 200},
		{Policy{MaxSize: 1 << 40}, many, 0},
	} {
		runs, err := s.Retention().candidates(ctx, c.p, now)
		must(t, err)
		c.p.DryRun = true
		done, err := s.Retention().Prune(ctx, c.p)
		must(t, err)
		if got := len(runs); got != c.read || len(done.IDs) != c.remove {
			t.Errorf("%+v: read %d runs, want %d; removes %d, want %d", c.p, got, c.read, len(done.IDs), c.remove)
		}
	}
}

// manyRuns adds runs that ended, the last one now and the others as far apart as given. Their
// ids are those that runs get.
func manyRuns(t *testing.T, s *Store, n int, now time.Time, apart time.Duration) {
	t.Helper()
	must(t, s.db.write(context.Background(), "test", func(ctx context.Context, c *conn) error {
		insert, err := c.PrepareContext(ctx, `INSERT INTO runs (n, id, tool, retry_of, status, started, ended, epoch, boot, lease)
			VALUES (?1, ?2, 'tool' || (?1 % 50), '', iif(?1 % 20, 'succeeded', 'failed'), ?3, ?3, 1, '', 0)`)
		if err != nil {
			return err
		}
		defer insert.Close()
		for i := range n {
			at := now.Add(-time.Duration(n-1-i) * apart)
			if _, err := insert.ExecContext(ctx, i+1, history.NewID(at), at.UnixNano()); err != nil {
				return err
			}
		}
		return nil
	}))
}

// pastRuns has runs of some size, each with its own definition and a shared one.
func pastRuns(t *testing.T, s *Store, runs, turns int) {
	t.Helper()
	ctx := context.Background()
	source := func(text string) tool.Source {
		return tool.Source{Name: "x", File: "x.yaml", Digest: tool.DigestOf([]byte(text)), Text: []byte(text)}
	}
	for i := range runs {
		id := fmt.Sprintf("run%03d", i)
		l, err := s.Begin(ctx, &history.Record{ID: id, Tool: "test", Created: time.Now(),
			Sources: []tool.Source{source("shared"), source(id)}})
		must(t, err)
		for seq := range uint64(turns) {
			e := event(id, seq+1)
			e[0].Reason = strings.Repeat("x", 1000)
			must(t, l.Append(ctx, e))
		}
		must(t, l.Append(ctx, finished(id, uint64(turns)+1)))
		if i != 1 { // the second lives
			must(t, l.Close())
		}
	}
}

func TestPrune(t *testing.T) {
	defer func(r, n, p int) { runsAtOnce, turnsAtOnce, pagesAtOnce = r, n, p }(runsAtOnce, turnsAtOnce, pagesAtOnce)
	runsAtOnce, turnsAtOnce, pagesAtOnce = 3, 70, 10
	ctx := context.Background()
	dir := t.TempDir()
	s := openTest(t, dir)
	pastRuns(t, s, 12, 100)
	logs := &testFiles{each: 1000}
	policy := Policy{Keep: 2, Files: logs}

	policy.DryRun = true
	dry, err := s.Retention().Prune(ctx, policy)
	must(t, err)
	var want []string
	for i := range 10 {
		if i != 1 {
			want = append(want, fmt.Sprintf("run%03d", i))
		}
	}
	if !slices.Equal(dry.IDs, want) || dry.Bytes < 9*101_000 || dry.Bytes > 9*140_000 {
		t.Error(dry)
	}
	if n := count(t, s, "runs"); n != 12 {
		t.Error("a dry run has removed some:", n)
	}
	must(t, compact(s))
	before := fileSize(t, dir)
	policy.DryRun = false
	done, err := s.Retention().Prune(ctx, policy)
	if err != nil || !slices.Equal(done.IDs, want) || done.Bytes != dry.Bytes || !slices.Equal(logs.removed, want) {
		t.Error(done, err)
	}
	for table, rows := range map[string]int{"runs": 3, "records": 3, "turns": 303, "definitions": 4, "uses": 6, "doomed": 0} {
		if n := count(t, s, table); n != rows {
			t.Errorf("%s has %d rows, want %d", table, n, rows)
		}
	}
	if after := fileSize(t, dir); after > before/2 {
		t.Errorf("the file has %d bytes, had %d", after, before)
	}
	must(t, readAll(s))
	if found := integrity(t, s); found != "ok" {
		t.Error(found)
	}
	if list, err := s.Audit().Entries(ctx, AuditQuery{Limit: 1}); err != nil || list[0].Action != "prune" || list[0].Detail != "9 runs" {
		t.Error(list, err)
	}
	if again, err := s.Retention().Prune(ctx, policy); err != nil || len(again.IDs) > 0 {
		t.Error(again, err)
	}
}

func TestPruneSize(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := openTest(t, dir)
	pastRuns(t, s, 20, 50) // some 1.2 MB
	const limit = 600_000
	done, err := s.Retention().Prune(ctx, Policy{MaxSize: limit})
	must(t, err)
	if size := fileSize(t, dir); size > limit*12/10 || size < limit/2 || len(done.IDs) < 5 {
		t.Errorf("%d bytes are left, %d runs went", size, len(done.IDs))
	}
	// Files count as well.
	left := count(t, s, "runs")
	done, err = s.Retention().Prune(ctx, Policy{MaxSize: 1 << 30, Files: &testFiles{each: 400 << 20, all: left}})
	if left = count(t, s, "runs"); err != nil || left != 2 {
		t.Error(left, done, err)
	}
}

// If a prune is interrupted between its transactions, the next one completes it.
func TestPruneInterrupted(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, t.TempDir())
	pastRuns(t, s, 4, 20)
	runs, err := s.Retention().candidates(ctx, Policy{}, time.Now())
	must(t, err)
	gone, err := s.Retention().remove(ctx, "prune", runs)
	if err != nil || len(gone) != 3 {
		t.Fatal(gone, err)
	}
	if n := count(t, s, "turns"); n != 84 {
		t.Error(n)
	}
	_, err = s.Retention().Prune(ctx, Policy{})
	must(t, err)
	if n := count(t, s, "turns"); n != 21 {
		t.Error(n)
	}
	// Numbers are not used again.
	beginTest(t, s, "later")
	var n int
	must(t, s.db.reads.QueryRow("SELECT n FROM runs WHERE id = 'later'").Scan(&n))
	if n != 5 {
		t.Error("the next run has the number", n)
	}
}

// TestPruneStopped: who watches the batches of a prune can stop it after any of them.
func TestPruneStopped(t *testing.T) {
	defer func(n int) { runsAtOnce = n }(runsAtOnce)
	runsAtOnce = 2
	s := openTest(t, t.TempDir())
	pastRuns(t, s, 7, 1)
	ctx, stop := context.WithCancel(context.Background())
	var watched [][2]int
	p := Policy{Keep: 1, Progress: func(removed, total int) {
		if watched = append(watched, [2]int{removed, total}); len(watched) == 2 {
			stop()
		}
	}}
	done, err := s.Retention().Prune(ctx, p)
	if !errors.Is(err, context.Canceled) || len(done.IDs) != 4 || !slices.Equal(watched, [][2]int{{2, 5}, {4, 5}}) {
		t.Errorf("removed %v, watched %v: %v", done.IDs, watched, err)
	}
	rest, err := s.Retention().Prune(context.Background(), p)
	if err != nil || len(rest.IDs) != 1 || count(t, s, "runs") != 2 || count(t, s, "turns") != 4 {
		t.Errorf("then removed %v: %v", rest.IDs, err)
	}
}

// Prune does not block active runs.
func TestPruneBesideRun(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, t.TempDir())
	pastRuns(t, s, 15, 60)
	l := beginTest(t, s, "busy")
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		for seq := uint64(1); ; seq++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := l.Append(ctx, event("busy", seq)); err != nil {
				done <- err
				return
			}
		}
	}()
	_, err := s.Retention().Prune(ctx, Policy{Keep: 1})
	close(stop)
	must(t, err)
	must(t, <-done)
	if n := count(t, s, "runs"); n != 2 {
		t.Error(n)
	}
	if found := integrity(t, s); found != "ok" {
		t.Error(found)
	}
}

func count(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	must(t, s.db.reads.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
	return n
}

func compact(s *Store) error {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	_, err := s.db.checkpoint(context.Background())
	return err
}

func fileSize(t *testing.T, dir string) (size int64) {
	t.Helper()
	for _, name := range []string{dbName, dbName + "-wal"} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		size += info.Size()
	}
	return size
}

// TestDue: Due reports whether there is anything to prune, and a Routine prune adds nothing
// to the audit list.
func TestDue(t *testing.T) {
	ctx := context.Background()
	s, err := Open(ctx, t.TempDir())
	must(t, err)
	defer s.Close()
	pastRuns(t, s, 4, 1) // the second lives
	for _, c := range []struct {
		p    Policy
		want bool
	}{
		{Policy{}, false},
		{Policy{Keep: 3}, true},
		{Policy{Keep: 4}, false},
		{Policy{OlderThan: time.Hour}, false},
		{Policy{OlderThan: time.Nanosecond}, true},
		{Policy{Keep: 4, OlderThan: time.Nanosecond}, true},
		{Policy{MaxSize: 1 << 40}, true},
	} {
		if got, err := s.Retention().Due(ctx, c.p); err != nil || got != c.want {
			t.Errorf("%+v: %v %v", c.p, got, err)
		}
	}
	for _, c := range []struct {
		p           Policy
		gone, noted int
	}{{Policy{Keep: 3, Routine: true}, 1, 0}, {Policy{Keep: 1}, 1, 1}} {
		done, err := s.Retention().Prune(ctx, c.p)
		must(t, err)
		list, err := s.Audit().Entries(ctx, AuditQuery{})
		must(t, err)
		if len(done.IDs) != c.gone || len(list) != c.noted {
			t.Errorf("%+v: removed %v, noted %+v", c.p, done.IDs, list)
		}
	}
}

// testFiles are files of runs, all of the same size.
type testFiles struct {
	each    int64
	all     int // number of runs with files
	removed []string
}

func (f *testFiles) Size() int64         { return int64(f.all-len(f.removed)) * f.each }
func (f *testFiles) SizeOf(string) int64 { return f.each }
func (f *testFiles) Remove(run string) error {
	f.removed = append(f.removed, run)
	return nil
}
