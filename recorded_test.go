package flowrun

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/library"
)

// partStore shows only the first events of a run.
type partStore struct {
	Store
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
	store := &partStore{Store: NewMemory()}
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
