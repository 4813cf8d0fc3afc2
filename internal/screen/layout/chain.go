package layout

import (
	"cmp"
	"slices"
)

// item is one place of a rank: a node, or a point of edges that pass through.
type item struct {
	rank  int32
	node  int32 // -1 for a point
	pos   int32 // within the rank
	w, h  int
	x     float64 // of its middle
	y     int     // of its upper side
	up    []int32 // neighbours in the rank above and below
	down  []int32
	line  [2]int32 // of a point: its neighbours in the same line above and below, 0 for none
	order float64  // used while a rank is sorted
}

// near returns the neighbours of an item in the rank above, or below. A point has only the
// one that continues its line, if there is one.
func (it *item) near(above bool) []int32 {
	side, list := 1, it.down
	if above {
		side, list = 0, it.up
	}
	if it.line[side] > 0 {
		return it.line[side : side+1]
	}
	return list
}

// layers is a graph in ranks. Item i is node i; points follow.
type layers struct {
	*Graph
	items []item
	ranks [][]int32 // items of each rank, from left to right
	paths [][]int32 // by edge: its items from end to end; nil for an edge behind the nodes
}

// maxPoints limits the points of long edges.
func maxPoints(nodes int) int { return 5*nodes + 10_000 }

// chain identifies a point: edges that leave or enter the same node share their points.
type chain struct {
	node  int32
	rank  int32
	enter bool
}

func newLayers(g *Graph) *layers {
	in, out := make([][]int32, len(g.Nodes)), make([][]int32, len(g.Nodes))
	for _, e := range g.Edges {
		out[e.From] = append(out[e.From], int32(e.To))
		in[e.To] = append(in[e.To], int32(e.From))
	}
	l := &layers{Graph: g, items: make([]item, len(g.Nodes)), paths: make([][]int32, len(g.Edges))}
	for i, r := range rankNodes(g, in, out) {
		l.items[i] = item{rank: r, node: int32(i), w: g.Nodes[i].W, h: g.Nodes[i].H}
		for int(r) >= len(l.ranks) {
			l.ranks = append(l.ranks, nil)
		}
	}
	byLength := make([]int, len(g.Edges))
	for i := range byLength {
		byLength[i] = i
	}
	slices.SortStableFunc(byLength, func(a, b int) int { return cmp.Compare(l.span(a), l.span(b)) })
	points, linked := map[chain]int32{}, map[[2]int32]bool{}
	for _, e := range byLength {
		if l.span(e) > 1 && len(points) > maxPoints(len(g.Nodes)) {
			break // all that follow are as long
		}
		l.addPath(e, len(out[g.Edges[e].From]) < len(in[g.Edges[e].To]), points, linked)
	}
	for i := range l.items {
		r := l.items[i].rank
		l.items[i].pos = int32(len(l.ranks[r]))
		l.ranks[r] = append(l.ranks[r], int32(i))
	}
	return l
}

// span returns over how many ranks an edge goes.
func (l *layers) span(e int) int32 {
	return l.items[l.Edges[e].To].rank - l.items[l.Edges[e].From].rank
}

// addPath adds the points of an edge. If enter is set, it shares them with other edges to
// the same node, else with other edges from the same node.
func (l *layers) addPath(e int, enter bool, points map[chain]int32, linked map[[2]int32]bool) {
	from, to := int32(l.Edges[e].From), int32(l.Edges[e].To)
	path := append(make([]int32, 0, l.span(e)+1), from)
	for r := l.items[from].rank + 1; r < l.items[to].rank; r++ {
		c := chain{from, r, enter}
		if enter {
			c.node = to
		}
		p, known := points[c]
		if !known {
			p = int32(len(l.items))
			points[c] = p
			l.items = append(l.items, item{rank: r, node: -1})
		}
		path = append(path, p)
	}
	path = append(path, to)
	for k, b := range path[1:] {
		if a := path[k]; !linked[[2]int32{a, b}] {
			linked[[2]int32{a, b}] = true
			l.items[a].down = append(l.items[a].down, b)
			l.items[b].up = append(l.items[b].up, a)
			if l.items[a].node < 0 && l.items[b].node < 0 {
				l.items[a].line[1], l.items[b].line[0] = b, a
			}
		}
	}
	l.paths[e] = path
}
