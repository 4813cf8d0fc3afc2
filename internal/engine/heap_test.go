package engine_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/test/heaptest"
	"github.com/flowrun/flowrun/library"
)

// TestHeapOfWaitingStep limits the memory of a step that waits for others: that of its
// definition, its plan and its text in the file, and that of a run.
func TestHeapOfWaitingStep(t *testing.T) {
	const many, mostOfPlan, mostOfRun = 10_000, 2300, 45
	measureWaiting(t, 100) // what is made once has been made
	plan, run := measureWaiting(t, many)
	for _, c := range []struct {
		of    string
		bytes int64
		most  int64
	}{{"plan", plan, mostOfPlan}, {"run", run, mostOfRun}} {
		each := c.bytes / many
		t.Logf("%d bytes of the %s for each waiting step, at most %d", each, c.of, c.most)
		if each > c.most {
			t.Errorf("a %s keeps too much for a waiting step", c.of)
		}
	}
}

// measureWaiting returns how many bytes the plan of a definition of many steps takes, and how many more a run whose
// steps wait for the first one.
func measureWaiting(t *testing.T, many int) (planned, running int64) {
	t.Helper()
	b := newBed(t)
	file := b.file("many.yaml", manySteps(many))
	empty := heaptest.InUse()
	plan, err := engine.Compile(library.New(library.Config{}), file)
	if err != nil {
		t.Fatal(err)
	}
	compiled := heaptest.InUse()
	var waiting int64
	var once sync.Once
	around := func(context.Context, *dag.Call, dag.Runner) (dag.Result, error) {
		once.Do(func() { waiting = heaptest.InUse() })
		return dag.Result{ExitCode: 1}, nil
	}
	if _, err := engine.New(engine.Config{Parallel: 1}).Run(context.Background(), plan, nil, engine.WithAround(around)); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(plan)
	return compiled - empty, waiting - compiled
}
