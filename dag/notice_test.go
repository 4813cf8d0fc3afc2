package dag_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
)

// noticing is a journal that gives the end of each step, and of the run, a notice.
type noticing struct{ events []dag.Event }

func (j *noticing) Append(_ context.Context, events []dag.Event) error {
	for i := range events {
		if e := &events[i]; e.Kind == dag.StepFinished || e.Kind == dag.RunFinished {
			e.Notices = []dag.Notice{{Code: "code", Step: e.Node, Message: "of " + string(e.Node)}}
		}
	}
	j.events = append(j.events, events...)
	return nil
}

func (*noticing) Sync(context.Context) error { return nil }

// The notices that a journal gives to events belong to the run, reach its sinks, and are there when the events are read.
func TestNotices(t *testing.T) {
	inner, err := dag.New([]dag.Node{{ID: "b", Runner: dag.RunnerFunc(func(context.Context, *dag.Call) (dag.Result, error) { return dag.Result{}, nil })}}, dag.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := dag.New([]dag.Node{{ID: "a", Graph: inner}}, dag.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var j noticing
	var emitted []dag.Notice
	s, err := dag.Run(t.Context(), g, nil, dag.Options{ID: "run", Journal: &j, Sinks: []dag.Sink{dag.SinkFunc(func(e dag.Event) { emitted = append(emitted, e.Notices...) })}})
	if err != nil {
		t.Fatal(err)
	}
	want := []dag.Notice{{Code: "code", Step: "a/b", Message: "of a/b"}, {Code: "code", Step: "a", Message: "of a"}, {Code: "code", Message: "of "}}
	read := dag.NewState("run", g, nil)
	for _, e := range j.events {
		read.Apply(e)
	}
	for name, got := range map[string][]dag.Notice{"run": s.Notices(), "sinks": emitted, "journal": read.Notices()} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	read.Apply(dag.Event{Kind: dag.RunResumed, Seq: 100, Time: time.Now(), Reset: []dag.ID{"a"}})
	if diff := cmp.Diff(want[2:], read.Notices()); diff != "" {
		t.Errorf("after a resume that runs a again (-want +got):\n%s", diff)
	}
}
