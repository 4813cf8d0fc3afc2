package engine_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/library"
)

// TestHeapOfWaitingStep limits the memory of a step that waits for others: that of its
// definition, its plan and its text in the file, and that of a run.
func TestHeapOfWaitingStep(t *testing.T) {
	const many, mostOfPlan, mostOfRun = 10_000, 2300, 45
	b := newBed(t)
	file := b.file("many.yaml", manySteps(many))
	empty := heap()
	plan, err := engine.Compile(library.New(library.Config{}), file)
	if err != nil {
		t.Fatal(err)
	}
	compiled := heap()
	var waiting uint64
	var once sync.Once
	around := func(context.Context, *dag.Call, dag.Runner) (dag.Result, error) {
		once.Do(func() { waiting = heap() })
		return dag.Result{ExitCode: 1}, nil
	}
	if _, err := engine.New(engine.Config{Parallel: 1}).Run(context.Background(), plan, nil, engine.WithAround(around)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of    string
		bytes int64
		most  int64
	}{{"plan", int64(compiled - empty), mostOfPlan}, {"run", int64(waiting - compiled), mostOfRun}} {
		each := c.bytes / many
		t.Logf("%d bytes of the %s for each waiting step, at most %d", each, c.of, c.most)
		const others = 64 << 10 // what else the program may have begun to use meanwhile
		if c.bytes > c.most*many+others {
			t.Errorf("a %s keeps too much for a waiting step", c.of)
		}
	}
	runtime.KeepAlive(plan)
}

// heap returns how many bytes are in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
