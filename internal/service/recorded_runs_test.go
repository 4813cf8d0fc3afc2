package service_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// countingStore counts how often definitions and events are read.
type countingStore struct {
	history.Store
	records, events atomic.Int64
}

func (s *countingStore) Record(ctx context.Context, id string) (*history.Record, error) {
	s.records.Add(1)
	return s.Store.Record(ctx, id)
}

func (s *countingStore) Events(ctx context.Context, id string, after uint64) ([]dag.Event, error) {
	list, err := s.Store.Events(ctx, id, after)
	s.events.Add(int64(len(list)))
	return list, err
}

// TestRecentRun checks that a run which is read again and again is compiled once and that only its
// new events are read, and that what was read before does not change.
func TestRecentRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"ask": "name: ask\nsteps:\n  - {name: first, bash: echo first}\n  - {name: go, approve: {prompt: 'May it'}}\n  - {name: end, bash: echo end}\n"})
	s := b.serve()
	id := b.start(s, service.Request{Tool: "ask"}) // a run of nobody, which the services leave alone while it waits
	b.becomes(id, dag.Waiting)
	store := &countingStore{Store: b.store}
	reader := b.serve(func(c *service.Config) { c.Store = store })
	read := func() *engine.RecordedRun {
		t.Helper()
		run, err := reader.Runs.RecordedRun(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	began, known := store.records.Load(), store.events.Load()
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			if run := read(); run.Result().Status != dag.Waiting || len(run.Questions()) != 1 {
				t.Errorf("%v, %v", run.Result().Status, run.Questions())
			}
		})
	}
	work.Wait()
	before := read()
	if read() != before {
		t.Error("a run in which nothing happened is another value")
	}
	events := int64(len(before.Events))
	if records, read := store.records.Load()-began, store.events.Load()-known; records != 1 || read != events {
		t.Errorf("%d records and %d events of %d were read", records, read, events)
	}
	if err := s.Control.Answer(t.Context(), id, "go", service.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	b.becomes(id, dag.Succeeded)
	after := read()
	if res := after.Result(); res.Status != dag.Succeeded || len(after.Questions()) != 0 || len(after.Events) <= int(events) {
		t.Errorf("%v after %d events", res.Status, len(after.Events))
	}
	if res := before.Result(); res.Status != dag.Waiting || len(before.Questions()) != 1 || len(before.Events) != int(events) {
		t.Errorf("what was read before is now %v after %d events", res.Status, len(before.Events))
	}
	if err := before.Refresh(t.Context(), store); err != nil || before.Result().Status != dag.Succeeded || read().Result().Status != dag.Succeeded {
		t.Errorf("%v, %v", err, before.Result().Status)
	}
}

// TestRecentRunRemoved checks that a run which was removed is not found, and that a later run with
// its id is another one, even if nobody asked in between.
func TestRecentRunRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"one": "name: one\nbash: echo one\n", "two": "name: two\nsteps:\n  - {name: a, bash: echo a}\n  - {name: b, bash: echo b}\n"})
	store := b.open(t.TempDir())
	b.store = store
	s := b.serve()
	for i, tool := range []string{"one", "two", "one"} {
		b.start(s, service.Request{Tool: tool, Origin: "api", ID: "same"})
		b.becomes("same", dag.Succeeded)
		run, err := s.Runs.RecordedRun(t.Context(), "same")
		if err != nil || run.Record.Tool != tool || run.Result().Steps[0].Status != dag.Succeeded {
			t.Fatalf("%v, %+v", err, run)
		}
		b.becomes(b.start(s, service.Request{Tool: tool, Origin: "api"}), dag.Succeeded)
		waittest.Until(t, "run that is removed", func() bool {
			_, err := store.Retention().Prune(t.Context(), sqlite.Policy{Keep: 1})
			_, gone := store.Info(t.Context(), "same")
			return err == nil && errors.Is(gone, history.ErrNoRun)
		})
		if i == 1 {
			continue
		}
		if _, err := s.Runs.RecordedRun(t.Context(), "same"); !errors.Is(err, history.ErrNoRun) {
			t.Error(err)
		}
	}
}
