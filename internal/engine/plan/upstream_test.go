package plan

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
)

func stepNode(id string, after ...dag.ID) dag.Node {
	return dag.Node{ID: dag.ID(id), After: after, Runner: dag.RunnerFunc(nil)}
}

// TestDirectUpstream compares the direct dependencies of random graphs with the plain definition of them.
func TestDirectUpstream(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		nodes := make([]dag.Node, 1+r.IntN(40))
		if seed == 0 {
			nodes = make([]dag.Node, 3*blockNodes/2)
		}
		for i := range nodes {
			nodes[i] = stepNode(fmt.Sprint("s", i))
			if i > 0 && r.IntN(4) == 0 {
				nodes[i] = dag.Node{ID: dag.ID(fmt.Sprint("@", i))}
			}
			for range r.IntN(1 + min(i, 4)) {
				up := r.IntN(i)
				if r.IntN(3) > 0 {
					up = i - 1 - r.IntN(min(i, 6))
				}
				nodes[i].After = append(nodes[i].After, nodes[up].ID)
			}
		}
		got := directUpstream(nodes)
		for id, want := range plainUpstream(nodes) {
			if diff := cmp.Diff(want, got[id]); diff != "" {
				t.Fatalf("seed %d: %s (-want +got):\n%s", seed, id, diff)
			}
		}
	}
}

// plainUpstream takes all joins apart, and compares each pair of steps.
func plainUpstream(nodes []dag.Node) map[string][]string {
	direct, all := make([]map[int]bool, len(nodes)), make([]map[int]bool, len(nodes)) // steps only
	index, out := map[dag.ID]int{}, map[string][]string{}
	for i := range nodes {
		index[nodes[i].ID], direct[i], all[i] = i, map[int]bool{}, map[int]bool{}
		for _, id := range nodes[i].After {
			up := index[id]
			list := map[int]bool{up: true}
			if IsJoin(&nodes[up]) {
				list = direct[up]
			} else {
				all[i][up] = true
			}
			for d := range list {
				direct[i][d] = true
			}
			for a := range all[up] {
				all[i][a] = true
			}
		}
		var list []int
		for up := range direct[i] {
			follows := false
			for other := range direct[i] {
				follows = follows || all[other][up]
			}
			if !follows {
				list = append(list, up)
			}
		}
		slices.Sort(list)
		for _, up := range list {
			out[string(nodes[i].ID)] = append(out[string(nodes[i].ID)], string(nodes[up].ID))
		}
	}
	return out
}

// TestDirectUpstreamGrowth: four times the steps cost four times the memory, whether each waits for all before it, many
// wait for many, or each waits for its predecessor and the first.
func TestDirectUpstreamGrowth(t *testing.T) {
	for name, build := range map[string]func(n int) []dag.Node{
		"one after another": func(n int) (nodes []dag.Node) {
			for i := range n {
				nodes = append(nodes, dag.Node{ID: dag.ID(fmt.Sprint("@", i))}, stepNode(fmt.Sprint("s", i), dag.ID(fmt.Sprint("@", i))))
				if i > 0 {
					nodes[2*i].After = []dag.ID{nodes[2*i-2].ID, nodes[2*i-1].ID}
				}
			}
			return nodes
		},
		"many after many": func(n int) (nodes []dag.Node) {
			join := dag.Node{ID: "@"}
			for i := range n {
				nodes = append(nodes, stepNode(fmt.Sprint("s", i)))
				join.After = append(join.After, nodes[i].ID)
			}
			nodes = append(nodes, join)
			for i := range n {
				nodes = append(nodes, stepNode(fmt.Sprint("t", i), "@"))
			}
			return nodes
		},
		"and the first": func(n int) (nodes []dag.Node) {
			for i := range n {
				nodes = append(nodes, stepNode(fmt.Sprint("s", i)))
				if i > 0 {
					nodes[i].After = []dag.ID{nodes[i-1].ID, nodes[0].ID}
				}
			}
			return nodes
		},
	} {
		bytes := func(n int) uint64 {
			nodes := build(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			directUpstream(nodes)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if few, many := bytes(500), bytes(2000); many > 5*few {
			t.Errorf("%s: 500 steps cost %d bytes, 2,000 cost %d", name, few, many)
		}
	}
}
