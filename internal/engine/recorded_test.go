package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/library"
)

// partStore shows only the first events of a run.
type partStore struct {
	history.Store
	events int
}

func (s *partStore) Events(ctx context.Context, id string, after uint64) ([]dag.Event, error) {
	list, err := s.Store.Events(ctx, id, after)
	return list[:max(0, min(len(list), s.events-int(after)))], err
}

// TestRefreshAppliesNewEvents checks that a run which is read again and again applies each event once, and that a
// snapshot keeps the state that it had.
func TestRefreshAppliesNewEvents(t *testing.T) {
	file := filepath.Join(t.TempDir(), "three.yaml")
	if err := os.WriteFile(file, []byte("name: three\nsteps:\n  - {name: a, bash: 'true'}\n  - {name: b, bash: 'true'}\n  - {name: c, bash: 'true'}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	lib := library.New(library.Config{WorkingDirectory: filepath.Dir(file), Home: filepath.Dir(file), Getenv: func(string) string { return "" }})
	plan, err := Compile(lib, file)
	if err != nil {
		t.Fatal(err)
	}
	store := &partStore{Store: history.NewMemory()}
	if _, err := New(Config{Store: store.Store}).Run(t.Context(), plan, nil, WithID("run")); err != nil {
		t.Fatal(err)
	}
	all, err := store.Store.Events(t.Context(), "run", 0)
	if err != nil {
		t.Fatal(err)
	}
	run, err := LoadRun(t.Context(), store, lib, "run")
	if err != nil {
		t.Fatal(err)
	}
	steps := func(p *RecordedRun) (list []dag.Status) {
		for _, s := range p.Result().Steps {
			list = append(list, s.Status)
		}
		return list
	}
	steps(run)
	state := run.folded.state
	var snapshots []*RecordedRun
	for store.events = range len(all) + 1 {
		if err := run.Refresh(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		steps(run)
		if run.folded.state != state || run.folded.events != store.events || len(run.Events) != store.events {
			t.Fatalf("%d events of %d are applied to the state, which is another one: %v", run.folded.events, store.events, run.folded.state != state)
		}
		snapshots = append(snapshots, run.Snapshot())
	}
	for n, s := range snapshots {
		fresh := dag.NewState("run", plan.compiled.Graph, nil)
		for _, e := range all[:n] {
			fresh.Apply(e)
		}
		for i, status := range steps(s) {
			want := fresh.Status(dag.ID("abc"[i : i+1]))
			if want == dag.Running { // the run has ended
				want = dag.Interrupted
			}
			if status != want {
				t.Errorf("after %d events step %d is %v, want %v", n, i, status, want)
			}
		}
	}
	if run.folded.state != state || run.folded.events != len(all) {
		t.Error("reading old snapshots has changed the state")
	}
}

// overtakenStore is a Store in which something happens just after the status of a run was read. As in a database, the status
// of a run that has a new owner is the old one until the first event.
type overtakenStore struct {
	history.Store
	then func()
}

func (s *overtakenStore) Info(ctx context.Context, id string) (history.RunInfo, error) {
	info, err := s.Store.Info(ctx, id)
	if s.then != nil {
		info.Status = dag.Waiting
		s.then()
		s.then = nil
	}
	return info, err
}

// TestRefreshOvertaken checks that a run which another process takes over while it is read is read as live: the steps
// of that process are not interrupted.
func TestRefreshOvertaken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gates.yaml")
	if err := os.WriteFile(file, []byte("name: gates\nsteps:\n  - {name: gate, approve: {prompt: go}, wait-for: []}\n  - {name: other, approve: {prompt: go}, wait-for: []}\n  - {name: a, wait-for: [gate], bash: 'true'}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	lib := library.New(library.Config{WorkingDirectory: filepath.Dir(file), Home: filepath.Dir(file), Getenv: func(string) string { return "" }})
	plan, err := Compile(lib, file)
	if err != nil {
		t.Fatal(err)
	}
	memory := history.NewMemory()
	if res, err := New(Config{Store: memory}).Run(t.Context(), plan, nil, WithID("run")); err != nil || res.Status != dag.Waiting {
		t.Fatal(res, err)
	}
	run, err := LoadRun(t.Context(), memory, lib, "run")
	if err != nil {
		t.Fatal(err)
	}
	last := run.seq()
	event := func(seq uint64, kind dag.Kind, node dag.ID, r *dag.Result) []dag.Event {
		return []dag.Event{{V: dag.EventVersion, Seq: last + seq, Run: "run", Kind: kind, Node: node, Attempt: 1, Result: r}}
	}
	var ledger history.Ledger
	for _, then := range []func() error{ // what happens between two reads
		func() error {
			l, err := memory.Claim(t.Context(), "run", last)
			ledger = l
			return errors.Join(err, l.Append(t.Context(), event(1, dag.RunResumed, "", nil)), l.Append(t.Context(), event(2, dag.StepFinished, "gate", &dag.Result{Status: dag.Succeeded})))
		},
		func() error { return ledger.Append(t.Context(), event(3, dag.StepStarted, "a", nil)) },
	} {
		store := &overtakenStore{Store: memory, then: func() {
			if err := then(); err != nil {
				t.Fatal(err)
			}
		}}
		if err := run.Refresh(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		if g, err := run.Continue(lib, ResumeOptions{}); !errors.Is(err, history.ErrLive) {
			t.Errorf("%v; it asks about %v", err, g.Asks)
		}
	}
}
