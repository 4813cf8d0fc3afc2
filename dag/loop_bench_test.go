package dag_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/heaptest"
)

// loopOf is a graph with one loop over n items that do nothing.
func loopOf(tb testing.TB, n int) *dag.Graph {
	tb.Helper()
	g, err := dag.New([]dag.Node{loopOver("l", dag.Each{Items: count(n), Item: dag.Node{Runner: nop}})}, dag.Settings{})
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func BenchmarkLoop(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		g := loopOf(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				st, err := dag.Run(context.Background(), g, nil, dag.Options{Slots: dag.NewSlots(8)})
				if err != nil || st.Result().Status != dag.Succeeded {
					b.Fatal(err, st.Result())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/item")
		})
	}
}

// TestLoopHeap: a loop over 100,000 items takes less than 60 MB while it runs.
func TestLoopHeap(t *testing.T) {
	g := loopOf(t, 100_000)
	before, peak, events := heaptest.InUse(), int64(0), 0
	watch := dag.SinkFunc(func(dag.Event) {
		if events++; events%10_000 == 0 {
			peak = max(peak, heaptest.InUse())
		}
	})
	s, err := dag.Run(t.Context(), g, nil, dag.Options{Slots: dag.NewSlots(8), Sinks: []dag.Sink{watch}})
	if err != nil || s.Result().Status != dag.Succeeded {
		t.Fatal(err, s.Result())
	}
	used := (peak - before) >> 20
	t.Logf("%d MB", used)
	if used >= 60 {
		t.Errorf("the heap grew by %d MB", used)
	}
}
