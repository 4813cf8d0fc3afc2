package dag_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

var nop = dag.RunnerFunc(func(context.Context, *dag.Call) (dag.Result, error) { return dag.Result{}, nil })

// layered is a graph of layers x width no-op nodes, each waiting for three of the
// layer before.
func layered(layers, width int) []dag.Node {
	var ns []dag.Node
	id := func(l, i int) dag.ID { return dag.ID(fmt.Sprintf("n%d_%d", l, i%width)) }
	for l := range layers {
		for i := range width {
			n := dag.Node{ID: id(l, i), Runner: nop}
			if l > 0 {
				n.After = []dag.ID{id(l-1, i)}
				if width > 2 {
					n.After = append(n.After, id(l-1, i+1), id(l-1, i+2))
				}
			}
			ns = append(ns, n)
		}
	}
	return ns
}

const slots = 16

func BenchmarkLayered(b *testing.B) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		g, err := dag.New(layered(max(n/100, 10), min(n/10, 100)), dag.Settings{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				st, err := dag.Run(context.Background(), g, nil, dag.Options{Slots: dag.NewSlots(slots)})
				if err != nil || st.Result().Status != dag.Succeeded {
					b.Fatal(err, st.Result())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*g.Len()), "ns/node")
		})
	}
}
