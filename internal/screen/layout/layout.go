package layout

// Graph is a graph before and after Layout.
type Graph struct {
	Nodes []Node
	Edges []Edge // each one goes to a later node; others are not drawn

	W, H int // size of the drawing
}

// Node is a rectangle. A node without a size is a point where edges meet.
type Node struct {
	W, H   int    // with a graph inside: the smallest width, and the height of the title above that graph
	Inside *Graph // nil for none

	X, Y int // left upper corner
}

// Edge connects two nodes, given by their index.
type Edge struct {
	From, To int

	Points []Point // corners of the line, from the lower side of From to the upper side of To
}

// Point is a place in the drawing.
type Point struct{ X, Y int }

// Distances, in the unit of the sizes of nodes.
const (
	margin    = 16 // around a graph inside a node
	nodeGap   = 24 // between nodes of a rank
	edgeGap   = 12 // between an edge and its neighbours in a rank
	rankGap   = 28 // between ranks, if no edges run there from left to right
	trackGap  = 8  // between such edges
	trackEdge = 14 // between such an edge and a rank
)

// Layout places the nodes and edges of the graph and of those inside its nodes. It removes
// edges that follow from others, and sorts the rest.
func (g *Graph) Layout() {
	g.place()
	g.move(0, 0)
}

// place computes the places of a graph relative to its own corner.
func (g *Graph) place() {
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Inside != nil {
			n.Inside.place()
			n.W, n.H = max(n.W, n.Inside.W+2*margin), n.H+n.Inside.H+margin
		}
	}
	g.Reduce()
	l := newLayers(g)
	l.order()
	l.placeX()
	l.route()
}

// move moves a graph, and makes the places inside its nodes absolute.
func (g *Graph) move(dx, dy int) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.X, n.Y = n.X+dx, n.Y+dy
		if in := n.Inside; in != nil {
			in.move(n.X+(n.W-in.W)/2, n.Y+n.H-margin-in.H)
		}
	}
	for i := range g.Edges {
		for k := range g.Edges[i].Points {
			p := &g.Edges[i].Points[k]
			p.X, p.Y = p.X+dx, p.Y+dy
		}
	}
}
