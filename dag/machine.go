package dag

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// machine makes the decisions of a run: it owns the State, and knows which tasks are to be
// started and which of them hold slots. It has no clock, no contexts and no goroutines, and
// does no I/O. A driver calls turn, records batch, and then starts tasks and stops what a
// run.cancelling event ends.
type machine struct {
	state   *State
	slots   slotSource
	opening []Event
	since   time.Time                         // see Options
	jitter  func(time.Duration) time.Duration // returns a random part of a wait
	// restarts means that leaves which are running at the beginning are started again.
	restarts bool

	// What the driver was asked to do. It is set before a turn.
	cancelled, forced, released bool

	// The outcome of a turn, valid until the next one.
	batch  []Event
	tasks  []*task
	opened []*frame // frames that started, outer ones first
	closed []*frame // frames that ended

	held           int              // number of slots that the run holds
	inFlight       int              // number of tasks that have been started and not reported
	claimed        map[place]func() // what nodes have claimed that have not started yet; the functions give it back
	seq            uint64
	fallbacks      []*task // of nodes with NoSlot: they wait for a slot
	freeTasks      []*task // finished tasks, to be used again
	resultSlab     []Result
	pendingAnswers []Answer        // received, but cannot be applied yet
	declined       map[uint64]bool // waits that the person who was asked left to others
	cancelSeen     bool            // the caller's cancel was recorded
	wasForced      bool            // the caller's forced stop was recorded
	begun          bool            // the first turn has started
}

// slotSource gives slots to a run.
type slotSource interface {
	take(want int) (got int) // if it gives less than wanted, the driver is woken when there are more
	give(n int)
}

// task is an attempt, a fallback, the computation of arguments, or the completion of a
// result. The machine makes it. A worker executes it, sets the lower half and reports it.
// Then the machine uses it again.
type task struct {
	at        place
	scope     scope
	attempt   int
	fallback  bool
	bind      bool
	claims    bool // the task asks for what the node claims
	releases  bool // the task calls release and nothing else
	round     int32
	release   func()    // gives back what the node has claimed; nil for nothing
	until     time.Time // when the attempt must have ended; zero means never
	completes *frame    // the walk whose result the task completes
	slot      bool      // the task holds a slot
	previous  *Result

	ctx context.Context // of the scope, set by the local driver

	res   *Result
	args  Args
	items Items
	err   error
}

// maxBatch is about the largest number of events that a turn records. Without it, the end
// of a loop with very many items would be one huge batch.
const maxBatch = 4096

// turn applies what workers reported. Then it decides until there is nothing left to decide,
// so that a turn is one call of the journal, or until the batch is large. In that case more
// is true. wake is when to take another turn if nothing happens before.
func (m *machine) turn(now time.Time, reports []*task) (wake time.Time, more bool, err error) {
	m.batch, m.tasks, m.opened, m.closed = m.batch[:0], m.tasks[:0], m.opened[:0], m.closed[:0]
	if err := m.collect(reports, now); err != nil {
		return wake, false, err
	}
	if err := m.begin(now); err != nil {
		m.batch = m.batch[:0] // nothing is recorded
		return wake, false, err
	}
	m.applyAnswers(now)
	for decided := true; decided && !more; more = len(m.batch) > maxBatch {
		free := m.startFallbacks(m.takeSlots(now))
		free, wake, decided = m.decide(now, free)
		m.giveSlots(free) // fewer nodes started than expected
	}
	m.inFlight += len(m.tasks)
	return wake, more, nil
}

// decide collects decisions until there is nothing left to decide with this many free
// slots, or the batch is full. left is the number of slots that were not needed.
func (m *machine) decide(now time.Time, free int) (left int, wake time.Time, decided bool) {
	for len(m.batch) <= maxBatch {
		m.noteCancel(now)
		e, due, ok := m.state.Next(now, free)
		if !ok {
			return free, due, decided
		}
		decided = true
		switch e.Kind {
		case stepCompleting:
			m.completeWalk(e)
			continue
		case stepClaiming:
			m.claim(e, now)
			continue
		}
		m.batch = append(m.batch, e)
		free -= m.prepare(&m.batch[len(m.batch)-1], now)
	}
	return free, wake, decided
}

// completeWalk makes a worker complete the result of a walk whose nodes have all settled.
func (m *machine) completeWalk(e Event) {
	f := e.at.f
	m.state.apply(&e)
	t := m.newTask(task{at: f.parent, completes: f})
	*t.res = *f.finalResult()
	m.tasks = append(m.tasks, t)
}

// begin starts the first turn: it records the opening events, opens nested graphs that were
// running, and has their arguments computed again.
func (m *machine) begin(now time.Time) error {
	if m.begun {
		return nil
	}
	m.begun = true
	for _, e := range m.opening {
		m.batch = append(m.batch, e)
		m.apply(&m.batch[len(m.batch)-1], now)
	}
	if err := m.reopenFrames(m.state.root); err != nil {
		return err
	}
	m.rebind(m.state.root)
	return nil
}

// reopenFrames opens the nested graphs that are running.
func (m *machine) reopenFrames(f *frame) error {
	for i := range f.nodes {
		if f.nodes[i].status != Running {
			continue
		}
		c, at := f.children[int32(i)], place{f, int32(i)}
		switch {
		case c == nil && m.restarts && (f.def(at.i).isLeaf() || f.nodes[i].fallback):
			m.restart(at)
			continue
		case c == nil:
			return fmt.Errorf("cannot continue: step %s was running when the run stopped, and its result is not recorded", f.path(int32(i)))
		}
		m.opened = append(m.opened, c)
		if err := m.reopenFrames(c); err != nil {
			return err
		}
	}
	return nil
}

// restart starts an attempt again that another machine has started.
func (m *machine) restart(at place) {
	n := at.f.node(at.i)
	t := task{at: at, scope: at.scope(), attempt: int(n.attempt), round: at.round(), fallback: n.fallback, previous: n.res, until: at.roundDeadline()}
	if at.f.def(at.i).needsSlot() || n.fallback {
		m.held += m.slots.take(1)
		t.slot = true
	}
	m.tasks = append(m.tasks, m.newTask(t))
}

// rebind has workers compute the arguments of the running graphs in a frame. The outer ones
// come first, because the inner ones need their arguments.
func (m *machine) rebind(f *frame) {
	for i := 0; i < len(f.nodes) && len(f.children) > 0; i++ {
		c := f.children[int32(i)]
		switch {
		case c == nil || f.nodes[i].status != Running:
		case c.bound:
			m.rebind(c)
		default:
			m.tasks = append(m.tasks, m.newTask(task{at: place{f, int32(i)}, scope: scope{walking, c}, attempt: int(f.nodes[i].attempt), bind: true}))
		}
	}
}

// noteCancel records that the caller wants to stop the run, once for a cancel and once for
// a forced stop.
func (m *machine) noteCancel(now time.Time) {
	if !m.state.started {
		return // run.started must be the first event
	}
	if !m.cancelSeen && m.cancelled {
		m.cancelSeen = true
		m.batch = append(m.batch, m.state.cancellingEvent(m.state.root, ReasonCancelled))
		m.apply(&m.batch[len(m.batch)-1], now)
	}
	if m.forced {
		m.forced, m.cancelSeen, m.wasForced = false, true, true
		m.batch = append(m.batch, m.state.cancellingEvent(m.state.root, ReasonForced))
		m.apply(&m.batch[len(m.batch)-1], now)
	}
}

// takeSlots gets slots for the leaves that could start, and returns how many are free.
func (m *machine) takeSlots(now time.Time) int {
	want := m.state.startable(now) + len(m.fallbacks)
	if m.releasing() {
		want = 0
	}
	free := m.slots.take(want)
	m.held += free
	return free
}

func (m *machine) giveSlots(n int) {
	if n > 0 {
		m.held -= n
		m.slots.give(n)
	}
}

// startFallbacks starts the fallbacks that wait for a slot, in the order they came. One
// that was cancelled in the meantime needs no slot: it only reports the cancel. It returns
// how many slots are left.
func (m *machine) startFallbacks(free int) int {
	left := m.fallbacks[:0]
	for _, t := range m.fallbacks {
		switch {
		case t.at.f.stopped != "":
			m.tasks = append(m.tasks, t)
		case free > 0:
			free--
			t.slot = true
			m.tasks = append(m.tasks, t)
		default:
			left = append(left, t)
		}
	}
	m.fallbacks = left
	return free
}

// collect applies what workers reported. An error of a runner ends the run, but only after
// all other reports have been recorded.
func (m *machine) collect(reports []*task, now time.Time) (err error) {
	released := 0
	for _, t := range reports {
		m.inFlight--
		switch {
		case t.bind && (t.scope.f.completing || m.state.endObsolete(t.scope.f)): // nobody needs the arguments any more
		case t.err != nil:
			err = cmp.Or(err, fmt.Errorf("cannot continue: step %s: %w", t.at.f.path(t.at.i), t.err))
		case t.claims:
			m.claimEnded(t, now)
		case t.releases:
		case t.bind && t.res.Status == Pending:
			if e := m.argsBound(t, now); e != nil {
				err = cmp.Or(err, fmt.Errorf("cannot continue: %w", e))
			}
		default:
			m.report(t, now)
		}
		if t.slot {
			released++
		}
		m.freeTasks = append(m.freeTasks, t)
	}
	m.giveSlots(released)
	return err
}

// report records the result of an attempt, of a walk, or of a node whose arguments could
// not be computed.
func (m *machine) report(t *task, now time.Time) {
	var e Event
	switch {
	case t.completes != nil:
		e = m.state.finishEvent(t.completes, t.res, now)
	case t.bind:
		e = m.state.bindFailedEvent(t.at, t.res, now)
	default:
		e = m.state.outcomeEvent(t.at, t.res, now)
	}
	m.batch = append(m.batch, e)
	m.apply(&m.batch[len(m.batch)-1], now)
	if e.Kind != StepFallback {
		return
	}
	// If the attempt had a slot, its fallback uses the same one.
	if t.slot {
		m.tasks = append(m.tasks, m.fallback(t.at, t.slot))
	} else {
		m.fallbacks = append(m.fallbacks, m.fallback(t.at, t.slot))
	}
	t.slot = false
}

// fallback makes the task for the fallback of a node.
func (m *machine) fallback(at place, slot bool) *task {
	n := at.f.node(at.i)
	return m.newTask(task{at: at, scope: at.scope(), attempt: int(n.attempt), round: at.round(), fallback: true, slot: slot, previous: n.res})
}

// argsBound starts the nodes of a graph or a loop whose arguments are known.
func (m *machine) argsBound(t *task, now time.Time) error {
	c := t.at.f.children[t.at.i]
	switch w, loops := c.walk.(*loopWalk); {
	case !loops || c.expanded && w.sameItems(t.items):
	case !c.expanded:
		m.batch = append(m.batch, Event{Kind: StepExpanded, Node: t.at.f.path(t.at.i), Items: t.items.Len(), Keys: t.items.Keys(), Digest: t.items.Digest(), at: t.at})
		m.apply(&m.batch[len(m.batch)-1], now)
	default: // nothing is recorded, so that the run can be resumed later with the items it had
		return fmt.Errorf("the items of step %s changed since the run began: restore the items, or start the step again in a new run (retry --from %s)",
			t.at.f.path(t.at.i), t.at.f.path(t.at.i))
	}
	m.state.apply(&Event{Kind: stepBound, Seq: m.seq, Time: now, at: t.at, args: t.args, items: t.items})
	m.rebind(c)
	return nil
}

// newTask returns a task to start, with a Result to fill in. Tasks are used again and
// Results are allocated in slabs, so that many short steps cause few allocations.
func (m *machine) newTask(t task) *task {
	if len(m.resultSlab) == 0 {
		m.resultSlab = make([]Result, 64)
	}
	t.res = &m.resultSlab[0]
	m.resultSlab = m.resultSlab[1:]
	if len(m.freeTasks) == 0 {
		m.freeTasks = append(m.freeTasks, new(task))
	}
	last := len(m.freeTasks) - 1
	p := m.freeTasks[last]
	m.freeTasks = m.freeTasks[:last]
	*p = t
	return p
}

// apply gives an event its number and time and applies it. The event must be in the batch.
func (m *machine) apply(e *Event, now time.Time) {
	m.seq++
	e.V, e.Seq, e.Run, e.Time = EventVersion, m.seq, m.state.run, now
	e.stamp(m.since)
	if e.Kind == StepRetrying && e.at.f != nil {
		// The random number is drawn when the wait is recorded, so that Next stays a pure function.
		b := e.at.f.def(e.at.i).Policy.backoff(e.Reason)
		if wait := e.Due.Sub(now); b.Jitter && wait > 0 {
			e.Due = now.Add(max(m.jitter(wait), b.atLeast(e.Result)))
		}
	}
	switch e.Kind {
	case StepFinished, StepRetrying, StepFallback:
		if e.at.f != nil && e.at.f.children[e.at.i] != nil {
			m.closed = append(m.closed, e.at.f.children[e.at.i])
		}
	}
	m.state.apply(e)
}

// prepare applies a decision and prepares its task. It returns how many slots the task
// uses.
func (m *machine) prepare(e *Event, now time.Time) int {
	m.apply(e, now)
	switch e.Kind {
	case StepStarted:
		return m.startTask(e)
	case StepFinished:
		m.unclaim(e.at)
	case StepFallback: // of a graph or a loop, which held no slot
		m.fallbacks = append(m.fallbacks, m.fallback(e.at, false))
	}
	return 0
}

func (m *machine) startTask(e *Event) int {
	f, i := e.at.f, e.at.i
	t := task{at: e.at, scope: e.at.scope(), attempt: e.Attempt, round: e.at.round(), previous: f.node(i).res, slot: f.def(i).needsSlot(), until: e.at.roundDeadline(), release: m.takeClaim(e.at)}
	if c := f.children[i]; c != nil {
		m.opened = append(m.opened, c)
		if c.bound {
			return 0
		}
		t.scope, t.bind = scope{walking, c}, true
	}
	m.tasks = append(m.tasks, m.newTask(t))
	if t.slot {
		return 1
	}
	return 0
}

// releasing reports whether the run is to be released when nothing runs any more; no leaf
// may start. A run that is being cancelled finishes first. Otherwise the next owner would
// repeat what the cleanup has already undone.
func (m *machine) releasing() bool { return m.released && m.state.root.stopped == "" }

// idle reports whether nothing runs and nothing can start.
func (m *machine) idle() bool { return m.inFlight+len(m.fallbacks) == 0 && !m.state.undecided() }
