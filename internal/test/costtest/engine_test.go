package costtest

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/history/sqlite"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// TestAllocations counts the allocations of the packages that other programs embed.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates itself")
	}
	got := counts{}
	graphAllocations(t, got)
	engineAllocations(t, got)
	journalAllocations(t, got)
	check(t, "allocations", got)
}

// allocations adds the allocations of f and their bytes, divided by n.
func allocations(got counts, name string, n int, f func()) {
	f()                    // what is made once and kept
	for range 4 * rounds { // on a busy machine, fewer events are recorded at once in most of them
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		got.add(name, float64(after.Mallocs-before.Mallocs)/float64(n))
		got.add(name+", bytes", float64(after.TotalAlloc-before.TotalAlloc)/float64(n))
	}
}

// graphAllocations counts those of a node that does nothing.
func graphAllocations(t *testing.T, got counts) {
	nop := dag.RunnerFunc(func(context.Context, *dag.Call) (dag.Result, error) { return dag.Result{}, nil })
	nodes := make([]dag.Node, 1000)
	for i := range nodes {
		nodes[i] = dag.Node{ID: dag.ID(fmt.Sprint("n", i)), Runner: nop}
		if i > 0 {
			nodes[i].After = []dag.ID{nodes[i-1].ID}
		}
	}
	g, err := dag.New(nodes, dag.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	allocations(got, "graph, a node", len(nodes), func() {
		st, err := dag.Run(context.Background(), g, nil, dag.Options{Slots: dag.NewSlots(4)})
		if err != nil || st.Result().Status != dag.Succeeded {
			t.Fatal(err, st.Result())
		}
	})
}

// engineAllocations counts those of a step in Go that does nothing, and of a command, both
// recorded in a file.
func engineAllocations(t *testing.T, got counts) {
	nop := func(context.Context, *gostep.StepInput) (any, error) { return nil, nil }
	engineSteps(t, got, "Go step", 500, func(name string) *tool.Step { return gostep.GoStep(name, nop) })
	engineSteps(t, got, "command", 50, func(name string) *tool.Step {
		return &tool.Step{Name: name, Body: &tool.Command{Key: tool.Run, Text: tool.Text{S: "/bin/true"}}}
	})
}

func engineSteps(t *testing.T, got counts, name string, n int, step func(name string) *tool.Step) {
	t.Helper()
	def := &tool.Definition{Name: "many"}
	for i := range n {
		s := step(fmt.Sprint("s", i))
		s.Parallel = true
		def.Steps = append(def.Steps, s)
	}
	plan, err := engine.CompileDefinition(library.New(library.Config{}), def)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store, err := sqlite.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	e := engine.New(engine.Config{Parallel: 4, Store: store, StateDir: dir})
	allocations(got, "engine, a "+name, n, func() {
		res, err := e.Run(context.Background(), plan, nil)
		if err != nil || res.Status != dag.Succeeded {
			t.Fatal(err, res)
		}
	})
}

// journalAllocations counts those of a turn of two events, as in a run of steps one after the
// other.
func journalAllocations(t *testing.T, got counts) {
	store, err := sqlite.Open(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	now := time.Now()
	l, err := store.Begin(context.Background(), &history.Record{ID: "r", Tool: "t", Created: now})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	result := &dag.Result{Status: dag.Succeeded, Attempts: 1, Started: now, Ended: now, Stdout: &dag.Output{Inline: "hello\n", Size: 6}}
	seq := uint64(0)
	const turns = 500
	allocations(got, "journal, a step", turns, func() {
		for range turns {
			node := dag.ID(fmt.Sprint("step", seq))
			events := []dag.Event{
				{V: 1, Run: "r", Kind: dag.StepStarted, Node: node, Attempt: 1, Time: now, Seq: seq + 1},
				{V: 1, Run: "r", Kind: dag.StepFinished, Node: node, Attempt: 1, Time: now, Seq: seq + 2, Result: result},
			}
			seq += 2
			if err := l.Append(context.Background(), events); err != nil {
				t.Fatal(err)
			}
		}
	})
}
