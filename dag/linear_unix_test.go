//go:build unix

package dag_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestLoopIsLinear: an item of a long loop costs about what one of a short loop costs.
func TestLoopIsLinear(t *testing.T) {
	linear(t, 1000, 100_000, func(n int) *dag.Graph { return loopOf(t, n) })
}

// TestLayersAreLinear: a node of a large graph costs about what one of a small graph costs.
func TestLayersAreLinear(t *testing.T) {
	many := sizetest.Of(50_000, 50_000, 1_000_000)
	linear(t, 1000, many, func(n int) *dag.Graph {
		g, err := dag.New(layered(n/100, 100), dag.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return g
	})
}

// linear compares what a node of a graph with few and with many nodes costs. It compares
// processor time, which no other process is in; five times is room for caches and the collector,
// and far below what a look at every node for each node would be.
func linear(t *testing.T, few, many int, graph func(n int) *dag.Graph) {
	t.Helper()
	cost := func(n int) time.Duration { // of a node
		g, began := graph(n), processorTime(t)
		for range many / n {
			runs(t, g, dag.Options{Slots: dag.NewSlots(8)})
		}
		return (processorTime(t) - began) / time.Duration(many)
	}
	var small, large time.Duration
	for range 3 {
		small, large = cost(few), cost(many)
		if large <= 5*small {
			t.Logf("%v, %v", small, large)
			return
		}
	}
	t.Errorf("a node of %d costs %v, one of %d %v", many, large, few, small)
}

// processorTime is what this process has used up.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
