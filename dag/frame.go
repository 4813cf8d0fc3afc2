package dag

import (
	"strings"
	"time"
)

// place is a node within a frame.
type place struct {
	f *frame
	i int32
}

// frame is one walk of one Graph: the run's own, or that of one try of a nested
// node.
type frame struct {
	g        *Graph
	prefix   string // "" or "setup/"
	up       place  // the node that holds this graph; up.f is nil for the root
	args     Args
	bound    bool // args are known, nodes may start
	nodes    []nodeState
	children map[int32]*frame
	ready    []int32 // min-heap by plan order
	queued   bool    // stands in State.runnable
	open     int32   // steps that have not settled
	stopped  string  // reason of a cancel; "" while none
	late     bool    // it was stopped because its own time was up
	began    time.Time
	until    time.Time // when what runs after the cancel must have ended
	result   *Result   // of the walk, once it has ended

	hands control // the loop's, not state
}

type nodeState struct {
	res      *Result // of the last try; the node's own once settled
	pending  int32   // nodes it still waits for
	attempt  int32
	status   Status
	tainted  bool
	fallback bool // the fallback runs or ran
}

func (f *frame) all(visit func(ID, *Node, Status, *Result)) {
	for i := range f.g.nodes {
		n := &f.g.nodes[i]
		if n.join() {
			continue
		}
		visit(f.path(int32(i)), n, f.nodes[i].status, f.nodes[i].res)
		if c := f.children[int32(i)]; c != nil {
			c.all(visit)
		}
	}
}

// path is a node's path; for the frame itself (i < 0) that of the node it hangs
// under.
func (f *frame) path(i int32) ID {
	if i < 0 {
		return ID(strings.TrimSuffix(f.prefix, "/"))
	}
	if f.prefix == "" {
		return f.g.nodes[i].ID
	}
	return ID(f.prefix) + f.g.nodes[i].ID
}

func (f *frame) node(i int32) *nodeState { return &f.nodes[i] }

// open makes the frame of one walk of g. Its nodes start once it is bound.
func (s *State) open(g *Graph, prefix string, up place) *frame {
	f := &frame{g: g, prefix: prefix, up: up, nodes: make([]nodeState, len(g.nodes)), open: g.steps}
	for i := range f.nodes {
		f.nodes[i].pending = g.waits[i]
	}
	return f
}

// push and pop keep the frame's ready nodes as a heap, so that plan order breaks
// ties whatever order the nodes became ready in.
func (f *frame) push(i int32) {
	h := append(f.ready, i)
	for c := len(h) - 1; c > 0; {
		p := (c - 1) / 2
		if h[p] <= h[c] {
			break
		}
		h[p], h[c] = h[c], h[p]
		c = p
	}
	f.ready = h
}

func (f *frame) pop() {
	h := f.ready
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	for p := 0; ; {
		c := 2*p + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if h[p] <= h[c] {
			break
		}
		h[p], h[c] = h[c], h[p]
		p = c
	}
	f.ready = h
}
