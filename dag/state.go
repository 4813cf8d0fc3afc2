package dag

import "time"

// State is everything known about a run: a fold over its events and nothing
// else. It is owned by one goroutine; Apply is the only way it changes. Three kinds of
// events are folded in and not recorded: what the owner of the run allows, that a nested
// graph has its arguments, or a loop its items, and that a worker completes the result of
// one of them. Whoever resumes the run makes them anew.
type State struct {
	run         string
	seq         uint64 // of the last event
	root        *frame
	started     bool
	result      *Result   // of the run, once finished
	readyNoSlot []place   // ready nodes that are Idle: they do not queue behind those that wait for a slot
	readyFrames []*frame  // frames with other ready nodes, in the order they became so
	readyCount  int       // ready nodes of these
	retries     timers    // nodes that wait for their next try
	waits       timers    // nodes that wait for the outside
	endedFrames []*frame  // frames whose nodes have all settled and whose own result is due
	deadlines   timers    // frames with a time limit
	failing     []*frame  // fail-fast frames with a fresh untolerated failure
	now         time.Time // of the event being applied
	limits      ownerLimits
}

// ownerLimits is what the owner of a run allows.
type ownerLimits struct {
	cleanup      time.Duration // bound of what runs in a frame after its cancel
	loopParallel int32         // how many items of a loop that does not say are under way; 0: all
}

// NewState is the state before anything happened.
func NewState(run string, g *Graph, a Args) *State {
	s := &State{run: run, limits: ownerLimits{cleanup: DefaultCleanup}}
	s.root = s.openGraph(g, "", place{})
	s.bindGraph(s.root, a)
	s.dropStale()
	return s
}

// Seq is the number of the last event, 0 before the first.
func (s *State) Seq() uint64 { return s.seq }

// Result is the run's result, nil until the run has finished.
func (s *State) Result() *Result { return s.result }

// Status is where the node with that path stands. A node of a nested graph that
// has not been started is Pending.
func (s *State) Status(path ID) Status {
	if p := s.find(path); p.f != nil {
		return p.f.nodes[p.i].status
	}
	return Pending
}

// Expanded is the event that told what a loop goes over; nil while that is not known.
func (s *State) Expanded(path ID) *Event {
	at := s.find(path)
	if at.f == nil {
		return nil
	}
	if c := at.f.children[at.i]; c != nil && c.expanded {
		if w, ok := c.walk.(*loopWalk); ok {
			return &Event{Kind: StepExpanded, Node: path, Items: len(c.nodes), Keys: w.keys, Digest: w.digest}
		}
	}
	return nil
}

// All calls visit for every step of the run in plan order, a nested graph's steps
// right after the step that holds it (of its last try).
func (s *State) All(visit func(path ID, n *Node, status Status, r *Result)) {
	s.root.visitSteps(visit)
}

// find is the place of a step's path, the zero place when there is none.
func (s *State) find(path ID) place {
	for f := s.root; f != nil; {
		var part string
		part, path = path.cut()
		i, ok := f.walk.lookup(part)
		switch {
		case !ok || f.def(i).isJoin():
			return place{}
		case path == "":
			return place{f, i}
		}
		f = f.children[i]
	}
	return place{}
}

// undecided says whether there is anything left that Next could decide.
func (s *State) undecided() bool {
	return s.readyCount+len(s.readyNoSlot)+len(s.retries)+len(s.endedFrames) > 0
}

// startable is at most how many leaves could start if there were slots for all:
// ready nodes, and tries that are due.
func (s *State) startable(now time.Time) int {
	n := s.readyCount
	for _, t := range s.retries {
		if t.due.After(now) {
			break
		}
		n++
	}
	return n
}
