package dag

import "time"

// State is everything that is known of a run: a fold over its events. One goroutine owns
// it, and only Apply changes it. Three kinds of events are applied and not recorded: the
// limits set by the owner of the run; the arguments of a nested graph, or the items of a
// loop; and that a worker completes the result of one of these. The owner that resumes the
// run makes them again.
type State struct {
	run         string
	seq         uint64 // of the last event
	root        *frame
	started     bool
	owned       time.Time // when the present owner began
	result      *Result   // of the run, once finished
	readyNoSlot []place   // ready nodes with NoSlot: they do not queue behind those that wait for a slot
	readyFrames []*frame  // frames with other ready nodes, in the order in which they got one
	readyCount  int       // number of ready nodes in readyFrames
	retries     timers    // nodes that wait for their next attempt
	waits       timers    // nodes that wait for a time or for an answer
	endedFrames []*frame  // frames whose nodes have all settled and whose own result is due
	deadlines   timers    // frames with a time limit
	failing     []*frame  // frames with FailFast and a new failure that is not tolerated
	now         time.Time // time of the event being applied
	limits      ownerLimits
	notices     []Notice // of all events
	acquires    bool     // claims of nodes are asked for

	// judge, if set, replaces When.Eval (OrderCondition), Policy.RetryIf (OrderRetry) and
	// Repeat.Done (OrderRepeat).
	judge func(OrderKind, View, *Result) (bool, error)
}

// ownerLimits are the limits that the owner of a run sets.
type ownerLimits struct {
	cleanup      time.Duration // limits what runs in a frame after its cancel
	loopParallel int32         // active items of a loop without Parallel; 0 means all
}

// NewState returns the state of a run before its first event.
func NewState(run string, g *Graph, a Args) *State {
	s := &State{run: run, limits: ownerLimits{cleanup: DefaultCleanup}}
	s.root = s.openGraph(g, "", place{})
	s.bindGraph(s.root, a)
	s.dropStale()
	return s
}

// Result returns the result of the run, nil until the run has finished.
func (s *State) Result() *Result { return s.result }

// Status returns the status of the node with that path. A node of a nested graph that has
// not started is Pending.
func (s *State) Status(path ID) Status {
	if p := s.find(path); p.f != nil {
		return p.f.nodes[p.i].status
	}
	return Pending
}

// Expanded returns the event with the items of a loop, nil while they are not known.
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

// All calls visit for every step of the run in plan order. The steps of a nested graph
// follow the step that holds it; they are those of its last attempt.
func (s *State) All(visit func(path ID, n *Node, status Status, r *Result)) {
	s.root.visitSteps(visit)
}

// evaluate evaluates the condition of a node.
func (s *State) evaluate(v View) (bool, error) {
	if s.judge != nil {
		return s.judge(OrderCondition, v, nil)
	}
	return v.f.def(v.i).When.Eval(v)
}

// mayRetry reports whether the node may have another attempt, in the same round, after a
// failure with that result.
func (s *State) mayRetry(at place, r *Result, now time.Time) bool {
	p := &at.f.def(at.i).Policy
	due := at.roundDeadline()
	switch {
	case r.Attempts-at.roundsBefore() > p.Attempts, r.Permanent, !due.IsZero() && !now.Before(due):
		return false
	case p.RetryIf == nil:
		return true
	case s.judge != nil:
		yes, err := s.judge(OrderRetry, at.view(), r)
		return yes && err == nil
	}
	return p.RetryIf(at.view(), r)
}

// find returns the place of a step by its path, the zero place if there is no such step.
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

// undecided reports whether there is something that Next could decide.
func (s *State) undecided() bool {
	return s.readyCount+len(s.readyNoSlot)+len(s.retries)+len(s.endedFrames) > 0
}

// startable returns an upper bound for the number of leaves that could start if each got a
// slot: ready nodes, and attempts that are due.
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
