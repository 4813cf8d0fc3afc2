package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// Commits are synced soon without a call of Sync, and many share one sync.
func TestSyncs(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, t.TempDir())
	l := beginTest(t, s, "r1")
	before, began := s.db.wal.syncs.Load(), time.Now()
	for seq := range uint64(2000) { // 1,000 steps
		must(t, l.Append(ctx, event("r1", seq+1)))
	}
	must(t, l.Append(ctx, finished("r1", 2001)))
	must(t, l.Sync(ctx))
	syncs := s.db.wal.syncs.Load() - before
	t.Log(syncs, "syncs for 1,000 steps")
	if most := uint64(time.Since(began)/syncEvery) + 3; uint64(syncs) > most { // fewer than 30 where the machine is not slow
		t.Errorf("1,000 steps took %d syncs, more than the %d that time alone asks for", syncs, most)
	}
	before = s.db.wal.syncs.Load()
	must(t, l.Sync(ctx)) // nothing new
	if after := s.db.wal.syncs.Load(); after != before {
		t.Error("the disk was asked without a reason")
	}
	must(t, l.Append(ctx, event("r1", 2002)))
	waittest.Until(t, "sync", func() bool { return s.db.wal.synced.Load() >= s.db.wal.commits.Load() })
}

// The WAL is moved to the main file while a run continues, and then begins again.
func TestMoveWAL(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := openTest(t, dir)
	l := beginTest(t, s, "1m83ww0epz1x2")
	turns := 0
	add := func(n int) {
		for range n {
			must(t, l.Append(ctx, stepTurn(turns)))
			turns++
		}
	}
	add(checkpointCommits)
	waittest.Until(t, "move", func() bool {
		info, err := os.Stat(filepath.Join(dir, dbName))
		return err == nil && info.Size() > 100<<10 && s.db.moving.TryLock()
	})
	s.db.moving.Unlock()
	before := s.db.wal.size()
	add(checkpointCommits / 2)
	if after := s.db.wal.size(); after != before {
		t.Errorf("the WAL has grown from %d to %d bytes", before, after)
	}
	if list, err := s.Events(ctx, "1m83ww0epz1x2", 0); err != nil || len(list) != 2*turns {
		t.Errorf("%d events, want %d: %v", len(list), 2*turns, err)
	}
}

// Concurrent calls of Sync share syncs.
func TestSyncShared(t *testing.T) {
	const waiting = 50
	ctx := context.Background()
	s := openTest(t, t.TempDir())
	ledgers := make([]history.Ledger, waiting)
	each := func(f func(i int) error) {
		var all sync.WaitGroup
		for i := range waiting {
			all.Go(func() {
				if err := f(i); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	each(func(i int) (err error) {
		ledgers[i], err = s.Begin(ctx, &history.Record{ID: fmt.Sprint("r", i), Tool: "test"})
		return err
	})
	before, began := s.db.wal.syncs.Load(), time.Now()
	each(func(i int) error { return ledgers[i].Sync(ctx) })
	// One for all of them, one for the file's name, and those that time itself asks for.
	if n := uint64(s.db.wal.syncs.Load() - before); n > 2+uint64(time.Since(began)/syncEvery) {
		t.Error(n, "syncs")
	}
}

// After a failed sync nothing is acknowledged any more.
func TestSyncFails(t *testing.T) {
	ctx := context.Background()
	s, err := Open(ctx, t.TempDir())
	must(t, err)
	l := beginTest(t, s, "r1")
	s.db.wal.mu.Lock()
	s.db.wal.file.Close()
	s.db.wal.mu.Unlock()
	must(t, l.Append(ctx, event("r1", 1)))
	if err := l.Sync(ctx); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if err := l.Append(ctx, event("r1", 2)); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if err := s.Close(); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

func TestOwner(t *testing.T) {
	s := openTest(t, t.TempDir())
	process, boot, lease, _ := s.ownership()
	own := sql.NullString{String: process, Valid: true}
	for _, c := range []struct {
		name            string
		o               owner
		lives, rebooted bool
	}{
		{"this process", owner{own, boot, lease}, true, false},
		{"this process, silent", owner{own, boot, 1}, false, false},
		{"given up", owner{sql.NullString{}, boot, lease}, false, false},
		{"dead", owner{sql.NullString{String: `{"pid":1,"start":99,"boot":"` + boot + `","namespace":"` + s.self.Namespace + `"}`, Valid: true}, boot, lease}, false, false},
		{"somewhere else", owner{sql.NullString{String: `{"pid":1,"start":99,"boot":"` + boot + `","namespace":"other"}`, Valid: true}, boot, lease}, true, false},
		{"another boot", owner{sql.NullString{String: `{"pid":1,"start":99,"boot":"x"}`, Valid: true}, "x", lease}, false, true},
		{"nonsense", owner{sql.NullString{String: `{`, Valid: true}, boot, lease}, false, false},
	} {
		if got := c.o.lives(); got != c.lives {
			t.Errorf("%s: lives is %v", c.name, got)
		}
		if got := c.o.rebooted(); got != c.rebooted {
			t.Errorf("%s: rebooted is %v", c.name, got)
		}
	}
}

// TestLastSign: the last sign of life of a run whose owner is dead is its last event or the last
// renewal of the lease, whichever is later, in another boot too.
func TestLastSign(t *testing.T) {
	s := openTest(t, t.TempDir())
	l := beginTest(t, s, "r1")
	renewed := time.Unix(2e9, 5)
	kill := func(boot string, alive time.Time) {
		t.Helper()
		_, err := s.db.conn.ExecContext(t.Context(), `UPDATE runs SET owner = '{"pid":1,"start":99,"boot":"x"}', boot = ?, alive = ?`, boot, alive.UnixNano())
		must(t, err)
	}
	check := func(when string, want time.Time) {
		t.Helper()
		i, err := s.Info(t.Context(), "r1")
		must(t, err)
		if i.Status != dag.Interrupted || !i.LastSign.Equal(want) || i.Took(time.Now()) != want.Sub(i.Started) {
			t.Errorf("%s: the run is %s, its last sign of life was at %v, it took %v; want %v", when, i.Status, i.LastSign, i.Took(time.Now()), want)
		}
	}
	kill(s.self.Boot, renewed)
	check("without events", renewed)
	later := event("r1", 1)
	later[0].Time = renewed.Add(time.Second)
	must(t, l.Append(t.Context(), later))
	check("an event came later", later[0].Time)
	kill("another", renewed.Add(time.Minute))
	check("the lease was renewed later, before the machine was restarted", renewed.Add(time.Minute))
	kill("another", time.Unix(0, 0))
	check("in a row of an earlier version", later[0].Time)
	list, err := s.Runs(t.Context(), history.Query{})
	must(t, err)
	if len(list) != 1 || !list[0].LastSign.Equal(later[0].Time) {
		t.Errorf("the list has %v", list)
	}
	before, alive := time.Now(), int64(0)
	must(t, s.renew([]*ledger{l.(*ledger)}))
	must(t, s.db.reads.QueryRow("SELECT alive FROM runs").Scan(&alive))
	if alive < before.UnixNano() || alive > time.Now().UnixNano() {
		t.Errorf("a renewal notes %v", time.Unix(0, alive))
	}
}

// A closed Store has given up its runs, leaves no goroutines and no files except those of
// the history, and calls on it fail.
func TestClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx := context.Background()
	dir := t.TempDir()
	s, err := Open(ctx, dir)
	must(t, err)
	l := beginTest(t, s, "r1")
	must(t, l.Append(ctx, event("r1", 1)))
	must(t, s.Close())
	must(t, s.Close())
	must(t, l.Close())
	if err := l.Append(ctx, event("r1", 2)); !errors.Is(err, history.ErrFenced) {
		t.Error(err)
	}
	if _, err := s.Begin(ctx, &history.Record{ID: "r2"}); err == nil {
		t.Error("a closed history has taken a run")
	}
	if _, err := s.Info(ctx, "r1"); err == nil {
		t.Error("a closed history was read")
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) != 4 {
		t.Error(left)
	}
	s, err = Open(ctx, dir)
	must(t, err)
	l, err = s.Claim(ctx, "r1", 1)
	must(t, err)
	must(t, l.Close())
	must(t, s.Close())
}

// Impossible turns are rejected.
func TestOddTurns(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, t.TempDir())
	l := beginTest(t, s, "r1")
	must(t, l.Append(ctx, event("r1", 2)))
	for name, seq := range map[string]uint64{"twice": 2, "zero": 0, "too high": maxSeq + 1} {
		if err := l.Append(ctx, event("r1", seq)); err == nil || errors.Is(err, history.ErrFenced) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, l.Append(ctx, event("r1", maxSeq)))
	if list, err := s.Events(ctx, "r1", maxSeq-1); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
	if list, err := s.Events(ctx, "r1", maxSeq); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

// A cancel by another process is received.
func TestCancelFromOutside(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s, other := openTest(t, dir), openTest(t, dir)
	for _, id := range []string{"r1", "r2"} { // the second when the store has looked at the first
		l := beginTest(t, s, id)
		must(t, other.Cancel(ctx, id, "enough of "+id))
		select {
		case reason := <-l.CancelRequests():
			if reason != "enough of "+id {
				t.Error(reason)
			}
		case <-time.After(waittest.Limit):
			t.Fatal("not heard")
		}
	}
}

func TestAudit(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, t.TempDir())
	l := beginTest(t, s, "r1")
	must(t, s.Cancel(ctx, "r1", "enough"))
	must(t, l.Close())
	l, err := s.Claim(ctx, "r1", 0)
	must(t, err)
	defer l.Close()
	must(t, s.Audit().Add(ctx, "approve", "r1", "yes"))
	list, err := s.Audit().Entries(ctx, AuditQuery{})
	must(t, err)
	got := ""
	for _, e := range list {
		got += fmt.Sprintln(e.Action, e.Run, e.Detail)
		if e.Who != userName() || e.Who == "" || time.Since(e.At) > time.Minute {
			t.Errorf("%+v", e)
		}
	}
	if want := "approve r1 yes\nresume r1 owner 2\ncancel r1 enough\n"; got != want {
		t.Errorf("the list is\n%s, want\n%s", got, want)
	}
	for q, want := range map[AuditQuery]string{
		{Limit: 1}:                         "approve",
		{Limit: 1, Before: list[0].N}:      "resume",
		{Action: "cancel"}:                 "cancel",
		{Who: userName(), Action: "start"}: "",
		{Who: "nobody"}:                    "",
		{Run: "r2"}:                        "",
		{Run: "r1", Since: list[1].At}:     "approve resume",
		{Until: list[1].At}:                "cancel",
	} {
		list, err := s.Audit().Entries(ctx, q)
		got := ""
		for _, e := range list {
			got += e.Action + " "
		}
		if strings.TrimSpace(got) != want || err != nil {
			t.Errorf("%+v: %s, %v", q, got, err)
		}
	}
}

// An entry names the person on whose behalf the Store was called, also for the start of a run and an
// answer.
func TestAuditOfPerson(t *testing.T) {
	anna := history.WithActor(context.Background(), "anna")
	s := openTest(t, t.TempDir())
	l, err := s.Begin(anna, &history.Record{ID: "r1", Tool: "deploy"})
	must(t, err)
	defer l.Close()
	must(t, s.Answer(anna, "r1", history.Answer{Step: "gate", Wait: 1, Approve: true}))
	must(t, s.Cancel(anna, "r1", "enough"))
	list, err := s.Audit().Entries(context.Background(), AuditQuery{})
	must(t, err)
	got := ""
	for _, e := range list {
		got += fmt.Sprintln(e.Who, e.Action, e.Run, e.Detail)
	}
	if want := "anna cancel r1 enough\nanna answer r1 gate: approved\nanna start r1 deploy\n"; got != want {
		t.Errorf("the list is\n%s, want\n%s", got, want)
	}
	if a := <-l.Answers(); a.By != "anna" {
		t.Errorf("%+v", a)
	}
}

// A run passes every failpoint, in order.
func TestFailpoints(t *testing.T) {
	defer func() { failpoint = nil }()
	var mu sync.Mutex
	var passed []string
	failpoint = func(name string) {
		mu.Lock()
		defer mu.Unlock()
		passed = append(passed, name)
	}
	ctx := context.Background()
	s, err := Open(ctx, t.TempDir())
	must(t, err)
	l := beginTest(t, s, "r1")
	must(t, l.Append(ctx, event("r1", 1)))
	must(t, l.Append(ctx, finished("r1", 2)))
	must(t, l.Sync(ctx))
	must(t, l.Close())
	l, err = s.Claim(ctx, "r1", 2)
	must(t, err)
	must(t, l.Close())
	must(t, s.Close())
	mu.Lock()
	defer mu.Unlock()
	seen := map[string]bool{}
	for _, name := range passed {
		seen[name] = true
	}
	for _, name := range []string{"begin", "append", "sync", "finish", "claim", "close"} {
		if !seen[name+"-before"] || !seen[name+"-after"] {
			t.Errorf("%s was not passed: %v", name, passed)
		}
	}
}

// 20 of 100,000 runs are found without reading or sorting the rest, for every kind of
// query. The time is logged and not checked.
func TestManyRuns(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, t.TempDir())
	n := sizetest.Of(5000, 20_000, 100_000)
	err := s.db.write(ctx, "fill", func(ctx context.Context, c *conn) error {
		_, err := c.ExecContext(ctx, `WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
			INSERT INTO runs (id, tool, retry_of, status, message, started, ended, epoch, boot, lease)
			SELECT printf('%013d', n), CASE WHEN n % 1000 = 3 THEN 'rare' ELSE 'often' END, '',
				CASE WHEN n % 5000 = 3 THEN 'timed-out' WHEN n % 3 = 0 THEN 'failed' WHEN n % 10000 = 1 THEN 'running' ELSE 'succeeded' END,
				'a message of some length', n * 1000000000, n * 1000000000, 1, 'x', 0 FROM i`, n)
		return err
	})
	must(t, err)
	const (
		newest   = "SCAN runs" // from the newest on, until there are enough
		byStatus = "SEARCH runs USING INDEX runs_status (status=?)"
		byTool   = "SEARCH runs USING INDEX runs_tool (tool=?)"
		byBoth   = "SEARCH runs USING INDEX runs_tool_status (tool=? AND status=?)"
		lastIDs  = "SEARCH runs USING INTEGER PRIMARY KEY (rowid=?), LIST SUBQUERY 1, SEARCH runs USING COVERING INDEX sqlite_autoindex_runs_1 (id>? AND id<?)"
	)
	merged := func(by string) string { return "MERGE (UNION ALL), LEFT, " + by + ", RIGHT, " + by }
	for name, c := range map[string]struct {
		q    history.Query
		plan string
	}{
		"all":                {history.Query{}, newest},
		"tool":               {history.Query{Tool: "often"}, byTool},
		"rare tool":          {history.Query{Tool: "rare"}, byTool},
		"status":             {history.Query{Status: []dag.Status{dag.Failed}}, byStatus},
		"two":                {history.Query{Status: []dag.Status{dag.Failed, dag.Succeeded}}, merged(byStatus)},
		"rare status":        {history.Query{Status: []dag.Status{dag.TimedOut}}, byStatus},
		"running":            {history.Query{Status: []dag.Status{dag.Running}}, byStatus},
		"interrupted":        {history.Query{Status: []dag.Status{dag.Interrupted}}, merged(byStatus)},
		"tool and status":    {history.Query{Tool: "rare", Status: []dag.Status{dag.Failed, dag.TimedOut}}, merged(byBoth)},
		"no such tool":       {history.Query{Tool: "none"}, byTool},
		"since":              {history.Query{Since: time.Unix(int64(n-10), 0)}, newest},
		"since, rare status": {history.Query{Since: time.Unix(int64(n/2), 0), Status: []dag.Status{dag.TimedOut}}, byStatus},
		"before":             {history.Query{Before: fmt.Sprintf("%013d", n/2)}, "SEARCH runs USING INTEGER PRIMARY KEY (rowid<?), SCALAR SUBQUERY 1, SEARCH runs USING COVERING INDEX sqlite_autoindex_runs_1 (id=?)"},
		"prefix":             {history.Query{Prefix: fmt.Sprintf("%013d", n/2)}, lastIDs},
		"origin":             {history.Query{Origin: "api"}, "SEARCH runs USING INDEX runs_origin (origin=?)"},
		"origin and status":  {history.Query{Origin: "api", Status: []dag.Status{dag.Failed}}, "SEARCH runs USING INDEX runs_origin_status (origin=? AND status=?)"},
		"short prefix":       {history.Query{Prefix: "0"}, lastIDs},
		"tool, short prefix": {history.Query{Prefix: "0", Tool: "often"}, byTool},
	} {
		c.q.Limit = 20
		began := time.Now()
		if _, err := s.Runs(ctx, c.q); err != nil {
			t.Fatal(err)
		}
		t.Log(name, time.Since(began))
		text, args := runsQuery(c.q, nil)
		if got := plan(t, s, text, args); got != c.plan {
			t.Errorf("%s: the plan is %s, want %s", name, got, c.plan)
		}
	}
}

// plan is how SQLite means to find what a statement asks for.
func plan(t *testing.T, s *Store, text string, args []any) string {
	t.Helper()
	rows, err := s.db.reads.Query("EXPLAIN QUERY PLAN "+text, args...)
	must(t, err)
	defer rows.Close()
	var list []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		must(t, rows.Scan(&id, &parent, &unused, &detail))
		list = append(list, detail)
	}
	must(t, rows.Err())
	return strings.Join(list, ", ")
}
