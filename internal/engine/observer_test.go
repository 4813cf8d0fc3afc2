package engine_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
)

// TestObservers checks that an observer of an engine sees each of its runs with its tool, a
// resumed run twice, and that it is called when the engine has finished with the run.
func TestObservers(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	var mu sync.Mutex
	seen := map[string]int{}
	count := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		seen[what]++
	}
	b.config.Store = history.NewMemory()
	b.config.Observers = []engine.Observer{
		func(run history.ObservedRun) (dag.Sink, func()) {
			count(fmt.Sprint("start ", run.ID, " ", run.Tool, " ", run.Trace.Parent, " ", run.Caller.Parent, " ", len(run.Recorded)))
			return dag.SinkFunc(func(e dag.Event) { count(fmt.Sprint(e.Kind, " ", e.Run == run.ID, " ", run.Tool)) }), func() { count("done " + run.ID) }
		},
		func(history.ObservedRun) (dag.Sink, func()) { return nil, nil },
	}
	eng := engine.New(b.config)
	for id, text := range map[string]string{"a": "bash: echo a\n", "b": "steps:\n  - name: gate\n    approve: Go on?\n"} {
		plan, err := engine.Compile(b.lib, b.file(id+".yaml", "name: "+id+"\ndescription: Observed\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(context.Background(), plan, nil, engine.WithID(id), engine.WithTrace(history.TraceContext{Parent: "first"}), engine.WithRunEnv(b.world), withCommands(shell)); err != nil {
			t.Fatal(err)
		}
	}
	past, err := engine.LoadRun(context.Background(), b.config.Store, b.lib, "b")
	if err != nil {
		t.Fatal(err)
	}
	again, err := past.Continue(b.lib, engine.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Continue(context.Background(), again, engine.WithTrace(history.TraceContext{Parent: "second"}), engine.WithRunEnv(b.world), withCommands(shell)); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"start a a first first 0": 1, "done a": 1, "run.started true a": 1, "run.finished true a": 1, "step.started true a": 1, "step.finished true a": 1,
		"start b b first first 0": 1, "start b b first second 3": 1, "done b": 2, "run.started true b": 1, "run.resumed true b": 1, "step.started true b": 1, "step.waiting true b": 1}
	if !maps.Equal(seen, want) {
		t.Errorf("seen %v", seen)
	}
}
