package keptstate_test

import (
	"context"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/keptstate"
)

// refusing is a Journal that refuses every event that keeps a value, once.
type refusing struct {
	seen []*dag.Result // of the events that it refused
}

func (j *refusing) Append(_ context.Context, events []dag.Event) error {
	if len(history.StateChanges(events)) == 0 {
		return nil
	}
	for _, e := range events {
		if e.Result != nil {
			j.seen = append(j.seen, e.Result)
		}
	}
	return &history.StateError{Key: "N", Conflict: true, Message: "another run changed it"}
}

func (j *refusing) Sync(context.Context) error { return nil }

// TestRefusedValues: a run whose values are refused fails and keeps those of its steps for its own end, and no result
// changes that the journal was given.
func TestRefusedValues(t *testing.T) {
	step := dag.RunnerFunc(func(context.Context, *dag.Call) (r dag.Result, err error) {
		r.SetState([]dag.StateChange{{Tool: "t", Key: "N", Value: []byte("1"), Step: true}})
		return r, nil
	})
	finish := func(_ dag.View, r *dag.Result) {
		r.SetState([]dag.StateChange{{Tool: "t", Key: "N", Value: []byte("1")}})
	}
	g, err := dag.New([]dag.Node{{ID: "step", Runner: step}}, dag.Settings{Finish: finish})
	if err != nil {
		t.Fatal(err)
	}
	j := &refusing{}
	state, err := dag.Run(t.Context(), g, nil, dag.Options{ID: "r", Journal: keptstate.Journal{Journal: j}})
	if err != nil {
		t.Fatal(err)
	}
	if r := state.Result(); r.Status != dag.Failed || r.Reason != keptstate.ReasonConflict || len(r.State()) != 0 {
		t.Errorf("the run is %v (%s) and keeps %v", r.Status, r.Reason, r.State())
	}
	state.All(func(path dag.ID, _ *dag.Node, _ dag.Status, r *dag.Result) {
		if len(r.State()) != 1 || r.State()[0].Step {
			t.Errorf("step %s keeps %v", path, r.State())
		}
	})
	if len(j.seen) != 2 || j.seen[0].Status != dag.Succeeded || !j.seen[0].State()[0].Step || j.seen[1].Status != dag.Succeeded || len(j.seen[1].State()) != 1 {
		t.Errorf("the journal was given %+v", j.seen)
	}
}
