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

// frame is one walk of one Graph or of one loop: the run's own, or that of one try of
// the node that holds it.
type frame struct {
	walk            walk
	prefix          string // "", "setup/", or "test" for a loop
	parent          place  // the node that holds this walk; up.f is nil for the root
	args            Args
	expanded        bool // its nodes are: those of a loop only once it was expanded
	bound           bool // args or items are there, nodes may start
	nodes           []nodeState
	children        map[int32]*frame
	ready           heap    // nodes that wait for nothing any more but a slot
	queued          bool    // is in State.runnable
	pendingTimers   []timer // of tries and waits, until the frame is bound
	unsettled       int32   // steps that have not settled
	stopped         string  // reason of a cancel; "" while none
	endQueued       bool    // is, or was, in State.ended
	completing      bool    // a worker completes its result
	timedOut        bool    // it was stopped because its own time was up
	started         time.Time
	cleanupDeadline time.Time // when what runs after the cancel must have ended
}

// walk is what graphs (graphWalk) and loops (loopWalk) do differently.
type walk interface {
	def(i int32) *Node                // what a node is
	path(prefix string, i int32) ID   // of a node
	lookup(part string) (int32, bool) // the node of that name
	dependents(i int32) []int32       // the nodes that wait for a node
	timeout() time.Duration           // of the walk; 0 is none
	args(v View) Args                 // those that a node sees
	result(v View, id ID) *Result     // a result that a node sees
	summarize(f *frame) *Result       // of a frame whose nodes have all settled
	completer(f *frame) func(*Result) // completes the sum, in a worker; nil: nothing does

	// What follows an event: a frame got its arguments or items, a node has changed its
	// status, a node has settled (and its failure cancels the rest), another owner continues.
	bind(s *State, f *frame, e *Event)
	statusChanged(s *State, f *frame, from, to Status)
	nodeSettled(s *State, f *frame, i int32, bad bool) (fails bool)
	reopen(s *State, f *frame)
}

type nodeState struct {
	res         *Result // of the last try; the node's own once settled
	readyAt     int64   // when it waited for nothing any more, Unix nanoseconds
	pending     int32   // nodes it still waits for
	attempt     int32
	status      Status
	tainted     bool
	fallback    bool // the fallback runs or ran
	outlasts    bool // a cancel does not stop it
	everStarted bool // a try of it has begun, in this life of the run or an earlier one
}

func (f *frame) visitSteps(visit func(ID, *Node, Status, *Result)) {
	for i := range f.nodes {
		n := f.def(int32(i))
		if n.isJoin() {
			continue
		}
		visit(f.path(int32(i)), n, f.nodes[i].status, f.nodes[i].res)
		if c := f.children[int32(i)]; c != nil {
			c.visitSteps(visit)
		}
	}
}

// visitFrames calls visit for the frame and every frame inside it.
func (f *frame) visitFrames(visit func(*frame)) {
	visit(f)
	for _, c := range f.children {
		c.visitFrames(visit)
	}
}

// path is a node's path; for the frame itself (i < 0) that of the node it hangs
// under.
func (f *frame) path(i int32) ID {
	if i < 0 {
		return ID(strings.TrimSuffix(f.prefix, "/"))
	}
	return f.walk.path(f.prefix, i)
}

func (f *frame) def(i int32) *Node { return f.walk.def(i) }

func (f *frame) node(i int32) *nodeState { return &f.nodes[i] }

// index is the number of the node that another one names.
func (f *frame) index(id ID) int32 {
	i, _ := f.walk.lookup(string(id))
	return i
}

// allSettled says whether everything in the frame has settled.
func (f *frame) allSettled() bool { return f.unsettled == 0 && f.expanded }

// finalResult is the result of a walk whose nodes have all settled, as far as they tell.
func (f *frame) finalResult() *Result {
	r := f.walk.summarize(f)
	r.Started = f.started
	return r
}

// heap holds nodes in plan order, whatever order they became ready in.
type heap []int32

func (l *heap) push(i int32) {
	h := append(*l, i)
	for c := len(h) - 1; c > 0; {
		p := (c - 1) / 2
		if h[p] <= h[c] {
			break
		}
		h[p], h[c] = h[c], h[p]
		c = p
	}
	*l = h
}

func (l *heap) pop() {
	h := *l
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
	*l = h
}
