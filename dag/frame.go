package dag

import (
	"strings"
	"time"
)

// place is one node of one frame.
type place struct {
	f *frame
	i int32
}

// frame is one walk of a Graph or of a loop: that of the run itself, or that of one attempt
// of the node that holds the graph or loop.
type frame struct {
	walk            walk
	prefix          string // "", "setup/", or "test" for a loop
	parent          place  // the node that holds this walk; parent.f is nil for the root
	scope           scope  // in which the walk runs
	args            Args
	expanded        bool // nodes is complete; false for a loop until step.expanded
	bound           bool // args or items are set, so nodes may start
	nodes           []nodeState
	children        map[int32]*frame
	rounds          map[int32]*rounds // of nodes with Policy.Repeat that have started
	ready           heap              // nodes that wait for nothing but a slot
	queued          bool              // the frame is in State.readyFrames
	pendingTimers   []timer           // of attempts and waits; they start when the frame is bound
	unsettled       int32             // number of steps that have not settled
	stopped         string            // reason of the cancel; "" if not cancelled
	endQueued       bool              // the frame is, or was, in State.endedFrames
	completing      bool              // a worker is completing the result
	timedOut        bool              // the frame was cancelled because its own time limit passed
	started         time.Time
	cleanupDeadline time.Time // after a cancel: when the cleanup must have ended
}

// walk is what differs between graphs (graphWalk) and loops (loopWalk).
type walk interface {
	def(i int32) *Node                // definition of a node
	path(prefix string, i int32) ID   // of a node
	lookup(part string) (int32, bool) // finds a node by its part of a path
	dependents(i int32) []int32       // nodes that wait for node i
	timeout() time.Duration           // of the whole walk; 0 means none
	args(v View) Args                 // arguments that a node sees
	result(v View, id ID) *Result     // result that a node sees
	summarize(f *frame) *Result       // the result, after all nodes have settled
	completer(f *frame) func(*Result) // completes the result in a worker; nil if there is nothing to do

	// These are called after an event. bind: a frame got its arguments or items.
	// statusChanged: a node has another status. nodeSettled: a node has settled; fails
	// reports whether its failure cancels the rest. reopen: another owner continues the
	// run.
	bind(s *State, f *frame, e *Event)
	statusChanged(s *State, f *frame, from, to Status)
	nodeSettled(s *State, f *frame, i int32, bad bool) (fails bool)
	reopen(s *State, f *frame)
}

type nodeState struct {
	res         *Result // of the last attempt; the final one once the node has settled
	readyAt     int64   // when it stopped waiting for other nodes, Unix nanoseconds
	pending     int32   // number of nodes it still waits for
	attempt     int32
	status      Status
	claim       claimState
	tainted     bool
	fallback    bool // the fallback is running or has run
	outlasts    bool // a cancel does not stop it
	everStarted bool // an attempt has started, under this owner of the run or an earlier one
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

// path returns the path of a node. For i < 0 it returns the path of the node that holds the
// frame.
func (f *frame) path(i int32) ID {
	if i < 0 {
		return ID(strings.TrimSuffix(f.prefix, "/"))
	}
	return f.walk.path(f.prefix, i)
}

func (f *frame) def(i int32) *Node { return f.walk.def(i) }

func (f *frame) node(i int32) *nodeState { return &f.nodes[i] }

// index returns the index of the node with that id.
func (f *frame) index(id ID) int32 {
	i, _ := f.walk.lookup(string(id))
	return i
}

// allSettled reports whether every node of the frame is known and has settled.
func (f *frame) allSettled() bool { return f.unsettled == 0 && f.expanded }

// finalResult returns the result of a walk after all its nodes have settled, before a
// worker completes it.
func (f *frame) finalResult() *Result {
	r := f.walk.summarize(f)
	r.Started = f.started
	return r
}

// heap holds indexes of nodes. Its first element is the first in plan order.
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
