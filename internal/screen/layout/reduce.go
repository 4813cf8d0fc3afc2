package layout

import (
	"cmp"
	"slices"
)

// maxReduced limits the nodes of a graph that is reduced, which needs a bit for each pair.
const maxReduced = 10_000

// Reduce sorts the edges, and removes those that do not go to a later node, are there twice
// or, in a graph that is not very large, follow from a longer path.
func (g *Graph) Reduce() {
	g.Edges = slices.DeleteFunc(g.Edges, func(e Edge) bool { return e.From >= e.To })
	slices.SortFunc(g.Edges, func(a, b Edge) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	g.Edges = slices.CompactFunc(g.Edges, func(a, b Edge) bool { return a.From == b.From && a.To == b.To })
	n := len(g.Nodes)
	if n > maxReduced {
		return
	}
	words := (n + 63) / 64
	above := make([]uint64, n*words) // by node: its upstream nodes, direct and indirect
	in := make([][]int, n)
	for _, e := range g.Edges {
		in[e.To] = append(in[e.To], e.From)
	}
	kept := make([]Edge, 0, len(g.Edges))
	for i := range n {
		set := above[i*words : (i+1)*words]
		for _, up := range slices.Backward(in[i]) { // a node that is upstream of another has a lower index
			if set[up/64]>>(up%64)&1 == 1 {
				continue
			}
			kept = append(kept, Edge{From: up, To: i})
			set[up/64] |= 1 << (up % 64)
			for w, bits := range above[up*words : (up+1)*words] {
				set[w] |= bits
			}
		}
	}
	g.Edges = kept
}
