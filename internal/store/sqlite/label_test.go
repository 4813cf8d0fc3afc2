package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// TestRareLabel: the runs with a label that few have are found without reading all runs, and no label outlasts its run.
func TestRareLabel(t *testing.T) {
	ctx := context.Background()
	s, err := Open(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 100 {
		r := &history.Record{ID: fmt.Sprintf("run%03d", i), Tool: "t", Created: time.Now(), Labels: map[string]string{"team": "ops"}}
		if i%50 == 7 {
			r.Labels["ticket"] = fmt.Sprint("T-", i)
		}
		l, err := s.Begin(ctx, r)
		if err == nil {
			err = l.Append(ctx, []dag.Event{{Kind: dag.RunFinished, Seq: 1, Run: r.ID, Time: time.Now(), Result: &dag.Result{Status: dag.Succeeded, Ended: time.Now()}}})
		}
		if err == nil {
			err = l.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		label history.Label
		q     history.Query
		want  string
	}{
		{history.Label{Name: "ticket"}, history.Query{}, "run057 run007"},
		{history.Label{Name: "ticket"}, history.Query{Limit: 1}, "run057"},
		{history.Label{Name: "ticket", Value: "T-7"}, history.Query{Limit: 5, Tool: "t"}, "run007"},
		{history.Label{Name: "ticket", Value: "T-7"}, history.Query{Status: []dag.Status{dag.Succeeded}}, "run007"},
		{history.Label{Name: "ticket", Value: "T-8"}, history.Query{}, ""},
		{history.Label{Name: "team", Value: "ops"}, history.Query{Limit: 2}, "run099 run098"},
	} {
		c.q.Labels = []history.Label{c.label}
		list, err := s.Runs(ctx, c.q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range list {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
		text, args := runsQuery(c.q, &c.label)
		plan, err := rowsOf(ctx, s.db.reads, func(rows *sql.Rows, line *string) error {
			var id, parent, unused int
			return rows.Scan(&id, &parent, &unused, line)
		}, "EXPLAIN QUERY PLAN "+text, args...)
		if all := strings.Join(plan, "\n"); err != nil || strings.Contains(all, "SCAN runs") {
			t.Errorf("%+v reads all runs: %v\n%s", c.q, err, all)
		}
	}
	if _, err := s.Retention().Prune(ctx, Policy{Keep: 10}); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := s.db.reads.QueryRowContext(ctx, "SELECT count(*) FROM run_labels").Scan(&n); err != nil || n != 10 {
		t.Errorf("%d labels of 10 runs, %v", n, err)
	}
}
