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
	g        *Graph  // nil for a loop
	rounds   *rounds // of a loop, else nil
	prefix   string  // "", "setup/", or "test" for a loop
	up       place   // the node that holds this graph; up.f is nil for the root
	args     Args
	bound    bool // args are known, nodes may start
	nodes    []nodeState
	children map[int32]*frame
	lanes    [lanes]lane
	held     []timer // of tries and waits, until the frame is bound
	open     int32   // steps that have not settled
	stopped  string  // reason of a cancel; "" while none
	ended    bool    // stands, or stood, in State.ended
	ending   bool    // a worker completes its result
	late     bool    // it was stopped because its own time was up
	began    time.Time
	until    time.Time // when what runs after the cancel must have ended
}

// lane holds those of a frame's ready nodes that ask for the same.
type lane struct {
	ready  []int32 // min-heap by plan order
	queued bool    // the frame stands in State.runnable of this lane
}

// Nodes that are Idle do not queue behind those that wait for a slot.
const (
	idleLane = iota
	slotLane // and all that neither is Idle nor takes a slot
	lanes
)

func (n *Node) lane() int {
	if n.Idle {
		return idleLane
	}
	return slotLane
}

type nodeState struct {
	res      *Result // of the last try; the node's own once settled
	since    int64   // when it waited for nothing any more, Unix nanoseconds
	pending  int32   // nodes it still waits for
	attempt  int32
	status   Status
	tainted  bool
	fallback bool // the fallback runs or ran
	spared   bool // a cancel does not stop it
	began    bool // a try of it has begun, in this life of the run or an earlier one
}

func (f *frame) all(visit func(ID, *Node, Status, *Result)) {
	for i := range f.nodes {
		n := f.def(int32(i))
		if n.join() {
			continue
		}
		visit(f.path(int32(i)), n, f.nodes[i].status, f.nodes[i].res)
		if c := f.children[int32(i)]; c != nil {
			c.all(visit)
		}
	}
}

// within calls visit for the frame and every frame inside it.
func (f *frame) within(visit func(*frame)) {
	visit(f)
	for _, c := range f.children {
		c.within(visit)
	}
}

// path is a node's path; for the frame itself (i < 0) that of the node it hangs
// under.
func (f *frame) path(i int32) ID {
	if i < 0 {
		return ID(strings.TrimSuffix(f.prefix, "/"))
	}
	if f.rounds != nil {
		return ID(f.prefix + "[" + f.rounds.key(i) + "]")
	}
	if f.prefix == "" {
		return f.g.nodes[i].ID
	}
	return ID(f.prefix) + f.g.nodes[i].ID
}

// def is what a node is; every item of a loop is the same.
func (f *frame) def(i int32) *Node {
	if f.rounds != nil {
		return &f.rounds.Item
	}
	return &f.g.nodes[i]
}

// at is the node with that name, or the item with that [KEY].
func (f *frame) at(part string) (int32, bool) {
	if f.rounds == nil {
		i, ok := f.g.index[ID(part)]
		return i, ok
	}
	key, ok := strings.CutPrefix(part, "[")
	if !ok || !strings.HasSuffix(key, "]") {
		return 0, false
	}
	return f.rounds.at(key[:len(key)-1], len(f.nodes))
}

func (f *frame) dependents(i int32) []int32 {
	if f.rounds != nil {
		return nil
	}
	return f.g.dependents(i)
}

// settings are those of the frame's graph.
func (f *frame) settings() Settings {
	if f.rounds != nil {
		return Settings{}
	}
	return f.g.settings
}

func (f *frame) node(i int32) *nodeState { return &f.nodes[i] }

// open makes the frame of one walk of g. Its nodes start once it is bound.
func (s *State) open(g *Graph, prefix string, up place) *frame {
	f := &frame{g: g, prefix: prefix, up: up, nodes: make([]nodeState, len(g.nodes)), open: g.steps}
	f.count()
	return f
}

// over says whether everything in the frame has settled.
func (f *frame) over() bool { return f.open == 0 && (f.rounds == nil || f.rounds.known) }

// count sets what every node waits for.
func (f *frame) count() {
	if f.rounds != nil {
		return
	}
	for i := range f.nodes {
		f.nodes[i].pending = f.g.waits[i]
	}
}

// push and pop keep the ready nodes as a heap, so that plan order breaks ties whatever
// order the nodes became ready in.
func (l *lane) push(i int32) {
	h := append(l.ready, i)
	for c := len(h) - 1; c > 0; {
		p := (c - 1) / 2
		if h[p] <= h[c] {
			break
		}
		h[p], h[c] = h[c], h[p]
		c = p
	}
	l.ready = h
}

func (l *lane) pop() {
	h := l.ready
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
	l.ready = h
}
