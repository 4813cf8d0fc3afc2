//go:build unix

package sqlite

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestLongHistory: what people ask of a history of a million runs costs about what it costs
// with few runs.
func TestLongHistory(t *testing.T) {
	many := sizetest.Of(10_000, 50_000, 1_000_000)
	ctx, now := context.Background(), time.Now()
	s := openTest(t, t.TempDir())
	manyRuns(t, s, many, now, time.Second)
	middle := history.NewID(now.Add(-time.Duration(many/2) * time.Second))
	list := func(q history.Query) func() error {
		return func() error {
			_, err := s.Runs(ctx, q)
			return err
		}
	}
	prune := func(p Policy) func() error {
		p.DryRun = true
		return func() error {
			_, err := s.Retention().Prune(ctx, p)
			return err
		}
	}
	for name, ask := range map[string]func() error{
		"list":            list(history.Query{Limit: 20}),
		"list a tool":     list(history.Query{Tool: "tool7", Limit: 20}),
		"list no tool":    list(history.Query{Tool: "none", Limit: 20}),
		"list failed":     list(history.Query{Status: []dag.Status{dag.Failed}, Limit: 20}),
		"list waiting":    list(history.Query{Status: []dag.Status{dag.Waiting}, Limit: 20}),
		"list a day":      list(history.Query{Since: now.Add(-24 * time.Hour), Limit: 20}),
		"a page":          list(history.Query{Before: middle, Limit: 100}),
		"list open":       list(history.Query{Open: true, Limit: 20}),
		"stats":           list(history.Query{Tool: "tool7", Status: []dag.Status{dag.Succeeded, dag.Failed}, Limit: 100}),
		"find a prefix":   list(history.Query{Prefix: middle[:6], Limit: 2}),
		"find a few":      list(history.Query{Prefix: middle[:3], Limit: 2}),
		"prune by age":    prune(Policy{OlderThan: time.Duration(many-100) * time.Second}),
		"prune by number": prune(Policy{Keep: many + 1}),
	} {
		least := time.Hour
		for range 5 { // the first one also prepares
			began := processorTime(t)
			must(t, ask())
			least = min(least, processorTime(t)-began)
		}
		t.Logf("%s: %v", name, least)
		// Counting a million entries of an index takes 45 ms on a quiet machine, and 130 beside other work, which takes the
		// caches of the processor; reading their records takes seconds.
		if most := 200 * time.Millisecond; least > most {
			t.Errorf("%s took %v of processor time with %d runs, want at most %v", name, least, many, most)
		}
	}
}

// TestRareRuns: finding out that no run has an origin of a kind, or a tool of several, reads all
// runs, but only within SQLite.
func TestRareRuns(t *testing.T) {
	many := sizetest.Of(5000, 20_000, 100_000)
	s := openTest(t, t.TempDir())
	manyRuns(t, s, many, time.Now(), time.Second)
	for name, q := range map[string]history.Query{
		"kind":            {Kind: "schedule", Limit: 100},
		"kind and status": {Kind: "schedule", Status: []dag.Status{dag.Succeeded}, Limit: 100},
		"tools":           {Tools: []string{"none", "neither"}, Direct: true, Limit: 100},
	} {
		least := time.Hour
		for range 5 {
			began := processorTime(t)
			list, err := s.Runs(context.Background(), q)
			must(t, err)
			least = min(least, processorTime(t)-began)
			if len(list) > 0 {
				t.Errorf("%s: %d runs", name, len(list))
			}
		}
		t.Logf("%s: %v", name, least)
		if most := 100 * time.Millisecond; least > most {
			t.Errorf("%s took %v of processor time with %d runs, want at most %v", name, least, many, most)
		}
	}
}

// processorTime returns what this process has used, which does not depend on other processes.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
