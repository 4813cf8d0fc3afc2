package layout

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestLayout lays out random graphs. Nodes are inside the drawing and do not overlap. Edges
// go downwards, in horizontal and vertical lines, from node to node and through none.
func TestLayout(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		g := drawn(t, 3)
		want := reachable(g)
		g.Layout()
		check(t, g, 0, 0)
		if got := reachable(g); !slices.Equal(got, want) {
			t.Fatalf("reachable from the nodes: %v, want %v", got, want)
		}
	})
}

// TestOrderOfEdges: the result does not depend on the order of the edges.
func TestOrderOfEdges(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		g := drawn(t, 0)
		other := &Graph{Nodes: slices.Clone(g.Nodes), Edges: rapid.Permutation(g.Edges).Draw(t, "order")}
		other.Edges = append(other.Edges, other.Edges...)
		g.Layout()
		other.Layout()
		if a, b := fmt.Sprint(*g), fmt.Sprint(*other); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
	})
}

// drawn returns a random graph.
func drawn(t *rapid.T, depth int) *Graph {
	g := &Graph{}
	for i := range rapid.IntRange(0, 30).Draw(t, "nodes") {
		n := Node{W: rapid.IntRange(0, 200).Draw(t, "width"), H: rapid.IntRange(0, 50).Draw(t, "height")}
		if depth > 0 && rapid.IntRange(0, 8).Draw(t, "holds") == 0 {
			n.Inside = drawn(t, depth-1)
		}
		for range rapid.IntRange(0, 3).Draw(t, "edges") {
			if i > 0 {
				g.Edges = append(g.Edges, Edge{From: rapid.IntRange(0, i-1).Draw(t, "from"), To: i})
			}
		}
		g.Nodes = append(g.Nodes, n)
	}
	return g
}

// check checks a drawing whose corner is at x, y.
func check(t *rapid.T, g *Graph, x, y int) {
	for i, n := range g.Nodes {
		if n.X < x || n.Y < y || n.X+n.W > x+g.W+1 || n.Y+n.H > y+g.H {
			t.Fatalf("node %d %+v is outside of %d,%d %dx%d", i, n, x, y, g.W, g.H)
		}
		for j, o := range g.Nodes[:i] {
			if n.X < o.X+o.W && o.X < n.X+n.W && n.Y < o.Y+o.H && o.Y < n.Y+n.H {
				t.Fatalf("nodes %d %+v and %d %+v overlap", i, n, j, o)
			}
		}
		if in := n.Inside; in != nil {
			left, top := n.X+(n.W-in.W)/2, n.Y+n.H-margin-in.H
			if left < n.X+margin || top < n.Y {
				t.Fatalf("the graph inside node %d is not inside", i)
			}
			check(t, in, left, top)
		}
	}
	for _, e := range g.Edges {
		checkLine(t, g, e)
	}
}

func checkLine(t *rapid.T, g *Graph, e Edge) {
	from, to, p := g.Nodes[e.From], g.Nodes[e.To], e.Points
	if first, last := p[0], p[len(p)-1]; first != (Point{from.X + from.W/2, from.Y + from.H}) || last != (Point{to.X + to.W/2, to.Y}) {
		t.Fatalf("%+v does not connect %+v and %+v", e, from, to)
	}
	for k, b := range p[1:] {
		a := p[k]
		if a.X != b.X && a.Y != b.Y || b.Y < a.Y {
			t.Fatalf("%+v does not go downwards in right angles", e)
		}
		for i, n := range g.Nodes {
			if min(a.X, b.X) < n.X+n.W && n.X < max(a.X, b.X) && a.Y < n.Y+n.H && n.Y < b.Y ||
				a.X == b.X && n.X < a.X && a.X < n.X+n.W && a.Y < n.Y+n.H && n.Y < b.Y {
				t.Fatalf("%+v runs through node %d %+v", e, i, n)
			}
		}
	}
}

// reachable returns the pairs of nodes with a path between them.
func reachable(g *Graph) (pairs []string) {
	above := make([]map[int]bool, len(g.Nodes))
	for i := range g.Nodes {
		above[i] = map[int]bool{}
	}
	for i := range g.Nodes {
		for _, e := range g.Edges {
			if e.To == i {
				above[i][e.From] = true
				for up := range above[e.From] {
					above[i][up] = true
				}
			}
		}
		for up := range above[i] {
			pairs = append(pairs, fmt.Sprint(up, " ", i))
		}
	}
	slices.Sort(pairs)
	return pairs
}

// layered returns a graph of n nodes in which each waits for one or two of the nodes
// shortly before it.
func layered(n int) *Graph {
	r := rand.New(rand.NewPCG(1, 2))
	g := &Graph{Nodes: make([]Node, n)}
	for i := range n {
		g.Nodes[i] = Node{W: 120 + r.IntN(80), H: 36}
		for range 1 + r.IntN(2) {
			if i > 20 {
				g.Edges = append(g.Edges, Edge{From: i - 1 - r.IntN(min(i, 80)), To: i})
			}
		}
	}
	return g
}

// tangled returns a graph of n nodes in which each waits for two of all those before it.
func tangled(n int) *Graph {
	r := rand.New(rand.NewPCG(1, 2))
	g := &Graph{Nodes: make([]Node, n)}
	for i := range n {
		g.Nodes[i] = Node{W: 150, H: 36}
		for range 2 {
			if i > 20 {
				g.Edges = append(g.Edges, Edge{From: r.IntN(i), To: i})
			}
		}
	}
	return g
}

// fan returns a graph in which n nodes wait for one and another waits for these.
func fan(n int) *Graph {
	g := &Graph{Nodes: make([]Node, n+2)}
	for i := range g.Nodes {
		g.Nodes[i] = Node{W: 150, H: 36}
		if i > 0 && i <= n {
			g.Edges = append(g.Edges, Edge{From: 0, To: i}, Edge{From: i, To: n + 1})
		}
	}
	return g
}

// graphs are large graphs by name.
func graphs(n int) map[string]*Graph {
	chain := &Graph{}
	for i := range n {
		chain.Nodes = append(chain.Nodes, Node{W: 150, H: 36})
		chain.Edges = append(chain.Edges, Edge{From: i, To: i + 1})
	}
	chain.Edges = chain.Edges[:n-1]
	return map[string]*Graph{"layered": layered(n), "tangled": tangled(n), "fan": fan(n), "chain": chain}
}

// TestSize: the work and the size of the drawing stay in proportion to the number of nodes.
func TestSize(t *testing.T) {
	for _, n := range []int{2_000, sizetest.Of(6_000, 20_000, 20_000)} {
		for name, g := range graphs(n) {
			corners := 0
			allocs := testing.AllocsPerRun(1, func() { g.Layout() })
			for _, e := range g.Edges {
				corners += len(e.Points)
			}
			if most := 60 * n; allocs > float64(most) {
				t.Errorf("%s of %d: %.0f allocations, want at most %d", name, n, allocs, most)
			}
			if most := 200 * n; corners > most {
				t.Errorf("%s of %d: %d corners, want at most %d", name, n, corners, most)
			}
			if most := 10 * n; name != "chain" && g.W > most {
				t.Errorf("%s of %d is %d wide, want at most %d", name, n, g.W, most)
			}
			t.Logf("%s of %d: %dx%d, %d corners, %.0f allocations", name, n, g.W, g.H, corners, allocs)
		}
	}
}

func BenchmarkLayout(b *testing.B) {
	for _, n := range []int{100, 2_000, 20_000} {
		for name := range graphs(10) {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					g := graphs(n)[name]
					b.StartTimer()
					g.Layout()
				}
			})
		}
	}
}
