package layout

import (
	"cmp"
	"slices"
)

// net is a line from left to right between two ranks: all edges that leave or enter an item
// there share it.
type net struct {
	hub         int32
	left, right float64
	track       int
}

// isStraight reports whether the net needs no line from left to right.
func (n *net) isStraight() bool { return n.left == n.right }

// route sets the places of the ranks from top to bottom, and the points of the edges.
func (l *layers) route() {
	gaps := make([]map[int32]*net, len(l.ranks)) // below each rank, by the item that shares the net
	tops := make([]int, len(l.ranks)+1)
	lines := make([]int, len(l.ranks)) // where the first net of a gap is
	y := 0
	for r, list := range l.ranks {
		height := 0
		for _, i := range list {
			height = max(height, l.items[i].h)
		}
		for _, i := range list {
			it := &l.items[i]
			if it.node >= 0 {
				it.y = y + (height-it.h)/2
				l.Nodes[i].Y = it.y
			}
		}
		tops[r] = y
		var tracks int
		gaps[r], tracks = l.nets(list)
		lines[r] = y + height + trackEdge
		y += height
		if r < len(l.ranks)-1 {
			y += max(rankGap, 2*trackEdge+(tracks-1)*trackGap)
		}
	}
	l.H = y
	for e := range l.Edges {
		l.Edges[e].Points = l.line(e, gaps, lines)
	}
}

// hub returns the end of an edge between two neighbouring ranks whose net it uses.
func (l *layers) hub(a, b int32) int32 {
	if len(l.items[a].down) == 1 && len(l.items[b].up) > 1 {
		return b
	}
	return a
}

// nets returns the nets below a rank, and over how many tracks they are distributed. Nets
// that would run over each other are on different tracks.
func (l *layers) nets(list []int32) (map[int32]*net, int) {
	all := map[int32]*net{}
	var sorted []*net
	for _, a := range list {
		for _, b := range l.items[a].down {
			hub, xa, xb := l.hub(a, b), l.items[a].x, l.items[b].x
			n := all[hub]
			if n == nil {
				n = &net{hub: hub, left: xa, right: xa}
				all[hub] = n
				sorted = append(sorted, n)
			}
			n.left, n.right = min(n.left, xa, xb), max(n.right, xa, xb)
		}
	}
	sorted = slices.DeleteFunc(sorted, (*net).isStraight)
	// A net to the right is below those that leave further right, so that they do not cross.
	slices.SortStableFunc(sorted, func(a, b *net) int {
		rightA, rightB := l.leansRight(a), l.leansRight(b)
		switch {
		case rightA && rightB:
			return cmp.Compare(b.left, a.left)
		case !rightA && !rightB:
			return cmp.Compare(a.right, b.right)
		case rightA:
			return 1
		}
		return -1
	})
	var ends [][]*net
	for _, n := range sorted {
		for n.track < len(ends) && slices.ContainsFunc(ends[n.track], func(o *net) bool { return n.left <= o.right && o.left <= n.right }) {
			n.track++
		}
		if n.track == len(ends) {
			ends = append(ends, nil)
		}
		ends[n.track] = append(ends[n.track], n)
	}
	return all, len(ends)
}

// leansRight reports whether the larger part of a net is to the right of the item that it
// leaves.
func (l *layers) leansRight(n *net) bool {
	x := l.items[n.hub].x
	return n.right-x > x-n.left
}

// line returns the corners of an edge.
func (l *layers) line(e int, gaps []map[int32]*net, lines []int) []Point {
	from, to := &l.items[l.Edges[e].From], &l.items[l.Edges[e].To]
	points := []Point{{int(from.x), from.y + from.h}}
	path := l.paths[e]
	if path == nil && from.x != to.x { // behind the nodes
		points = append(points, Point{int(from.x), lines[from.rank]}, Point{int(to.x), lines[from.rank]})
	}
	for k := 1; k < len(path); k++ {
		a, b := path[k-1], path[k]
		xa, xb := int(l.items[a].x), int(l.items[b].x)
		if xa != xb {
			r := l.items[a].rank
			y := lines[r] + gaps[r][l.hub(a, b)].track*trackGap
			points = append(points, Point{xa, y}, Point{xb, y})
		}
	}
	return append(points, Point{int(to.x), to.y})
}
