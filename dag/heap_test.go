package dag_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/heaptest"
)

// TestHeapOfWaitingNode limits the memory of a node that waits for others: that of the graph, and
// that of a run.
func TestHeapOfWaitingNode(t *testing.T) {
	const many, mostOfGraph, mostOfRun = 100_000, 330, 40
	var waiting int64
	empty := heaptest.InUse()
	nodes := make([]dag.Node, 1, many)
	nodes[0] = dag.Node{ID: "gate", Runner: dag.RunnerFunc(func(context.Context, *dag.Call) (dag.Result, error) {
		waiting = heaptest.InUse()
		return dag.Result{ExitCode: 1}, nil
	})}
	for i := 1; i < many; i++ {
		nodes = append(nodes, dag.Node{ID: dag.ID(fmt.Sprint("n", i)), After: []dag.ID{nodes[i/2].ID, nodes[i-1].ID}, Runner: nodes[0].Runner})
	}
	g, err := dag.New(nodes, dag.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	made := heaptest.InUse()
	runs(t, g, dag.Options{Slots: dag.NewSlots(1)})
	for _, c := range []struct {
		of    string
		bytes int64
		most  int64
	}{{"graph", made - empty, mostOfGraph}, {"run", waiting - made, mostOfRun}} {
		each := c.bytes / many
		t.Logf("%d bytes of the %s for each waiting node, at most %d", each, c.of, c.most)
		if each > c.most {
			t.Errorf("a %s keeps too much for a waiting node", c.of)
		}
	}
	runtime.KeepAlive(g)
}
