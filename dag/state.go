package dag

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// State is everything known about a run: a fold over its events and nothing
// else. It is owned by one goroutine; Apply is the only way it changes.
type State struct {
	run      string
	root     *frame
	started  bool
	result   *Result  // of the run, once finished
	runnable []*frame // bound frames with ready nodes, in the order they became so
	ready    int      // ready nodes over all frames
	again    timers   // nodes that wait for their next try
	ended    []*frame // frames whose nodes have all settled and whose own result is due
	deadline timers   // frames with a time limit
	failing  []*frame // fail-fast frames with a fresh untolerated failure
	decided  []Event  // Next's answer while it is being made
	cleanup  time.Duration
}

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

// NewState is the state before anything happened.
func NewState(run string, g *Graph, a Args) *State {
	s := &State{run: run, cleanup: DefaultCleanup}
	s.root = s.open(g, "", place{})
	s.bind(s.root, a)
	return s
}

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

// All calls visit for every step of the run in plan order, a nested graph's steps
// right after the step that holds it (of its last try).
func (s *State) All(visit func(path ID, n *Node, status Status, r *Result)) {
	s.root.all(visit)
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

// find is the place of a step's path, the zero place when there is none. Ids hold
// neither slash nor number sign, so the path falls apart into one name per floor.
func (s *State) find(path ID) place {
	f, rest := s.root, string(path)
	for f != nil {
		name, more, nested := strings.Cut(rest, "/")
		name, _, _ = strings.Cut(name, "#") // a later try
		i, ok := f.g.index[ID(name)]
		if !ok {
			return place{}
		}
		switch {
		case f.g.nodes[i].join():
			return place{}
		case !nested:
			return place{f, i}
		}
		f, rest = f.children[i], more
	}
	return place{}
}

// open makes the frame of one walk of g. Its nodes start once it is bound.
func (s *State) open(g *Graph, prefix string, up place) *frame {
	f := &frame{g: g, prefix: prefix, up: up, nodes: make([]nodeState, len(g.nodes)), open: g.steps}
	for i := range f.nodes {
		f.nodes[i].pending = g.waits[i]
	}
	return f
}

// bind hands a frame its arguments and lets its nodes go.
func (s *State) bind(f *frame, a Args) {
	f.args, f.bound = a, true
	for i, n := range f.g.waits {
		if n == 0 {
			s.release(f, int32(i))
		}
	}
	if f.g.steps == 0 {
		s.ended = append(s.ended, f)
	}
}

// refuse ends a frame whose arguments could not be had: nothing in it ever runs.
func (s *State) refuse(f *frame, r *Result) {
	f.result = r
	s.ended = append(s.ended, f)
}

// undecided says whether there is anything left that Next could decide.
func (s *State) undecided() bool { return s.ready+len(s.again)+len(s.ended) > 0 }

// startable is at most how many leaves could start if there were slots for all:
// ready nodes, fallbacks of nested graphs, and tries that are due.
func (s *State) startable(now time.Time) int {
	n := s.ready + len(s.ended)
	for _, t := range s.again {
		if t.due.After(now) {
			break
		}
		n++
	}
	return n
}

// release is called when a node waits for nothing any more.
func (s *State) release(f *frame, i int32) {
	if f.g.nodes[i].join() {
		s.pass(f, i, f.nodes[i].tainted)
		return
	}
	f.push(i)
	s.ready++
	s.enqueue(f)
}

func (s *State) enqueue(f *frame) {
	if !f.queued && f.bound && len(f.ready) > 0 {
		f.queued = true
		s.runnable = append(s.runnable, f)
	}
}

// pass tells the dependents of a settled node that they wait for one less, and
// taints them when it went badly.
func (s *State) pass(f *frame, i int32, bad bool) {
	for _, d := range f.g.dependents(i) {
		n := &f.nodes[d]
		n.tainted = n.tainted || bad
		if n.pending--; n.pending == 0 {
			s.release(f, d)
		}
	}
}

// Apply folds one event into the state. Events must come in the order they were
// made. What cannot have happened is ignored: an event about a node that does not
// exist or has settled, an end without an end state.
func (s *State) Apply(e Event) { s.apply(&e) }

func (s *State) apply(e *Event) {
	switch e.Kind {
	case RunStarted:
		s.started, s.root.began = true, e.Time
		s.limit(s.root, e.Time, 0)
	case RunCancelling:
		if f := s.walk(e); f != nil {
			s.cancel(f, e)
		}
	case RunFinished:
		s.result = e.Result
	default:
		s.step(e)
	}
}

// walk is the frame that a cancel is about, nil when it is over.
func (s *State) walk(e *Event) *frame {
	at := e.at
	switch {
	case e.Node == "":
		return s.root
	case at.f == nil:
		at = s.find(e.Node)
	}
	if at.f == nil {
		return nil
	}
	return at.f.children[at.i]
}

// step folds an event of one step.
func (s *State) step(e *Event) {
	at := e.at
	if at.f == nil {
		at = s.find(e.Node)
	}
	if at.f == nil || at.f.node(at.i).status.Settled() {
		return
	}
	switch n := at.f.node(at.i); e.Kind {
	case StepStarted:
		s.start(at, e)
	case StepRetrying:
		n.status, n.res = Retrying, e.Result
		delete(at.f.children, at.i)
		s.again.add(timer{e.Due, at, n.attempt})
	case StepFallback:
		n.res, n.fallback = e.Result, true
		delete(at.f.children, at.i)
	case StepFinished:
		if e.Result != nil && e.Result.Status.Settled() {
			s.settle(at, e.Result)
		}
	}
}

func (f *frame) node(i int32) *nodeState { return &f.nodes[i] }

// maxAttempt keeps what a broken journal says from wrapping round.
const maxAttempt = 1 << 30

func (s *State) start(at place, e *Event) {
	n := at.f.node(at.i)
	n.status, n.attempt = Running, int32(min(max(e.Attempt, 1), maxAttempt))
	def := &at.f.g.nodes[at.i]
	if def.Graph == nil {
		return
	}
	prefix := string(at.f.path(at.i))
	if e.Attempt > 1 {
		prefix += "#" + strconv.Itoa(e.Attempt)
	}
	c := s.open(def.Graph, prefix+"/", at)
	if at.f.children == nil {
		at.f.children = map[int32]*frame{}
	}
	at.f.children[at.i] = c
	c.began = e.Time
	s.limit(c, e.Time, def.Policy.Timeout)
	if def.Bind == nil {
		s.bind(c, at.f.args)
	}
}

// limit arms a frame's time limit: its graph's own, that of a try of the node that
// holds it, or what is left for cleaning up, whichever ends first.
func (s *State) limit(f *frame, now time.Time, try time.Duration) {
	var due time.Time
	sooner := func(t time.Time) {
		if due.IsZero() || t.Before(due) {
			due = t
		}
	}
	if d := f.g.settings.Timeout; d > 0 {
		sooner(now.Add(d))
	}
	if try > 0 {
		sooner(now.Add(try))
	}
	if up := f.up.f; up != nil && up.stopped != "" {
		sooner(up.until)
	}
	if !due.IsZero() {
		s.deadline.add(timer{due: due, at: place{f, -1}})
	}
}

// cancel folds a cancel of a frame. What still runs in it afterwards has until
// s.cleanup is over, or as long as what surrounds it where that was cancelled
// before.
func (s *State) cancel(f *frame, e *Event) {
	until := e.Time.Add(s.cleanup)
	for up := f.up.f; up != nil; up = up.up.f {
		if up.stopped != "" && up.until.Before(until) {
			until = up.until
		}
	}
	f.late = f.late || f.stopped == "" && e.Reason == ReasonTimeout
	s.stop(f, cmp.Or(e.Reason, ReasonCancelled), until)
}

// stop marks a frame and everything open inside it as cancelled. What has not
// started settles as it becomes ready; what runs is told by the loop. A stop by
// force also reaches what was started to clean up after an earlier one.
func (s *State) stop(f *frame, reason string, until time.Time) {
	fresh := f.stopped == ""
	if !fresh && reason != ReasonForced {
		return
	}
	if fresh {
		f.stopped, f.until = reason, until
		s.again.expire(f)
	}
	for _, c := range f.children {
		s.stop(c, reason, f.until)
	}
	if fresh && f.queued { // to the front: what was cancelled must not queue for a slot
		i := slices.Index(s.runnable, f)
		copy(s.runnable[1:i+1], s.runnable[:i])
		s.runnable[0] = f
	}
}

func (s *State) settle(at place, r *Result) {
	f, n := at.f, at.f.node(at.i)
	n.status, n.res = r.Status, r
	f.open--
	if c := f.children[at.i]; c != nil && c.open > 0 {
		delete(f.children, at.i) // its arguments were refused: nothing in it ever was
	}
	bad := r.bad()
	s.pass(f, at.i, bad)
	if bad && f.g.settings.FailFast && f.stopped == "" && !f.g.nodes[at.i].Aside {
		s.failing = append(s.failing, f)
	}
	if f.open == 0 {
		s.ended = append(s.ended, f)
	}
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

// timers are places by due time, soonest first.
type timers []timer

type timer struct {
	due     time.Time
	at      place
	attempt int32 // the try that failed; a timer of an earlier one is out of date
}

func (t *timers) add(n timer) {
	i, _ := slices.BinarySearchFunc(*t, n.due, func(x timer, d time.Time) int {
		if x.due.After(d) {
			return 1
		}
		return -1 // equal times keep the order they came in
	})
	*t = slices.Insert(*t, i, n)
}

// expire makes everything a frame waits for due at once.
func (t *timers) expire(f *frame) {
	var own timers
	*t = slices.DeleteFunc(*t, func(x timer) bool {
		if x.at.f == f {
			own = append(own, timer{at: x.at, attempt: x.attempt})
		}
		return x.at.f == f
	})
	*t = append(own, *t...)
}
