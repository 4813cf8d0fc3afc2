package dag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// eventLoop is the goroutine that owns the State of a run.
type eventLoop struct {
	ctx            context.Context // of the caller
	record         context.Context // of the journal: never cancelled, because the cancel has to be recorded
	base           context.Context // parent of all contexts of work; only a forced stop cancels it
	force          context.CancelCauseFunc
	options        Options
	state          *State
	pool           *pool
	ticket         ticket
	ticketQueued   bool // the ticket may be in the queue of Slots
	slots          int  // number of slots that the run holds
	inFlight       int  // number of tasks that workers have
	seq            uint64
	batch          []Event
	tasks          []*task
	fallbacks      []*task // of nodes with NoSlot: they wait for a slot
	reports        []*task // from workers
	freeTasks      []*task // finished tasks, to be used again
	resultSlab     []Result
	pendingAnswers []Answer        // received, but cannot be applied yet
	declined       map[uint64]bool // waits that the person who was asked left to others
	onExit         []func() bool   // undo what is scheduled for the end of the cleanup time
	controls       map[*frame]*control
	cancelSeen     bool // the caller's cancel was recorded
	opened         bool // the first turn has started

	released bool // Options.Release was closed
}

// control holds the contexts of what runs in a frame that has not ended.
type control struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	cleanup context.Context // of what runs after a cancel; nil until needed

	// Of nodes that start before a cancel and would also start after one: the cancel does
	// not stop them, but the end of the cleanup time does. nil until needed.
	outlast context.Context
	expire  context.CancelCauseFunc
}

func (l *eventLoop) addControl(f *frame, parent context.Context) {
	c := new(control)
	c.ctx, c.cancel = context.WithCancelCause(parent)
	l.controls[f] = c
}

func (l *eventLoop) run() error {
	for !l.abandoned() {
		wake, more, err := l.turn()
		switch {
		case err != nil || l.state.result != nil:
			return err
		case more:
			continue
		case l.slots == 0 && l.releasing():
			return ErrReleased
		}
		if l.inFlight+len(l.fallbacks) == 0 && wake.IsZero() && !l.state.undecided() && len(l.state.waits) == 0 {
			return errors.New("internal error: nothing runs, nothing can start, and the run has not ended")
		}
		if l.onlyAnswersLeft() {
			return l.leaveWaiting()
		}
		l.wait(wake)
	}
	return ErrReleased
}

// maxBatch is about the largest number of events that a turn records. Without it, the end
// of a loop with very many items would be one huge batch.
const maxBatch = 4096

// turn does one round: decide, record, act. It applies the reports first. Then it decides
// until there is nothing left to decide, so that a turn is one call of the journal, or
// until the batch is large. In that case more is true.
func (l *eventLoop) turn() (wake time.Time, more bool, err error) {
	now := time.Now()
	l.batch, l.tasks = l.batch[:0], l.tasks[:0]
	if err := l.collect(now); err != nil {
		return wake, false, errors.Join(err, l.publish())
	}
	if err := l.open(now); err != nil {
		return wake, false, err
	}
	l.takeAnswers(now)
	for decided := true; decided && !more; more = len(l.batch) > maxBatch {
		free := l.startFallbacks(l.takeSlots(now))
		free, wake, decided = l.decide(now, free)
		if free > 0 { // fewer nodes started than expected
			l.slots -= free
			l.options.Slots.give(free)
		}
	}
	if err := l.publish(); err != nil {
		return wake, false, err
	}
	l.act()
	return wake, more, nil
}

// decide collects decisions until there is nothing left to decide with this many free
// slots, or the batch is full. left is the number of slots that were not needed.
func (l *eventLoop) decide(now time.Time, free int) (left int, wake time.Time, decided bool) {
	for len(l.batch) <= maxBatch {
		l.noteCancel(now)
		e, due, ok := l.state.Next(now, free)
		if !ok {
			return free, due, decided
		}
		decided = true
		if e.Kind == stepCompleting {
			l.completeWalk(e)
			continue
		}
		l.batch = append(l.batch, e)
		free -= l.prepare(&l.batch[len(l.batch)-1], now)
	}
	return free, wake, decided
}

// completeWalk makes a worker complete the result of a walk whose nodes have all settled.
func (l *eventLoop) completeWalk(e Event) {
	f := e.at.f
	l.state.apply(&e)
	t := l.newTask(task{at: f.parent, completes: f, ctx: l.base})
	*t.res = *f.finalResult()
	l.tasks = append(l.tasks, t)
}

// open starts the first turn: it records the opening events, and gives contexts and
// arguments again to nested graphs that were running.
func (l *eventLoop) open(now time.Time) error {
	if l.opened {
		return nil
	}
	l.opened = true
	for _, e := range l.options.Opening {
		l.batch = append(l.batch, e)
		l.apply(&l.batch[len(l.batch)-1], now)
	}
	if err := l.restoreContexts(l.state.root); err != nil {
		return err
	}
	l.rebind(l.state.root)
	return nil
}

// restoreContexts makes the contexts of the nested graphs that are running.
func (l *eventLoop) restoreContexts(f *frame) error {
	for i := range f.nodes {
		if f.nodes[i].status != Running {
			continue
		}
		c := f.children[int32(i)]
		if c == nil {
			return fmt.Errorf("cannot continue: step %s was running when the run stopped, and its result is not recorded", f.path(int32(i)))
		}
		l.addControl(c, l.controls[f].ctx)
		if err := l.restoreContexts(c); err != nil {
			return err
		}
	}
	return nil
}

// rebind has workers compute the arguments of the running graphs in a frame. The outer ones
// come first, because the inner ones need their arguments.
func (l *eventLoop) rebind(f *frame) {
	for i := 0; i < len(f.nodes) && len(f.children) > 0; i++ {
		c := f.children[int32(i)]
		switch {
		case c == nil || f.nodes[i].status != Running:
		case c.bound:
			l.rebind(c)
		case l.controls[c] != nil:
			l.tasks = append(l.tasks, l.newTask(task{at: place{f, int32(i)}, ctx: l.controls[c].ctx, attempt: int(f.nodes[i].attempt), bind: true}))
		}
	}
}

// noteCancel records that the caller wants to stop the run, once for a cancel and once for
// a forced stop.
func (l *eventLoop) noteCancel(now time.Time) {
	if !l.state.started || l.abandoned() {
		return // run.started must be the first event; after Abandon there are no more
	}
	if !l.cancelSeen && l.ctx.Err() != nil {
		l.cancelSeen = true
		l.batch = append(l.batch, l.state.cancellingEvent(l.state.root, ReasonCancelled))
		l.apply(&l.batch[len(l.batch)-1], now)
	}
	select {
	case <-l.options.Force:
		l.options.Force, l.cancelSeen = nil, true
		l.batch = append(l.batch, l.state.cancellingEvent(l.state.root, ReasonForced))
		l.apply(&l.batch[len(l.batch)-1], now)
	default:
	}
}

// takeSlots gets slots for the leaves that could start, and returns how many are free.
func (l *eventLoop) takeSlots(now time.Time) int {
	want := l.state.startable(now) + len(l.fallbacks)
	if l.releasing() {
		want = 0
	}
	if want == 0 && !l.ticketQueued {
		return 0
	}
	free := l.options.Slots.take(&l.ticket, want)
	l.ticketQueued = free < want
	l.slots += free
	return free
}

// startFallbacks starts the fallbacks that wait for a slot, in the order they came. One
// that was cancelled in the meantime needs no slot: it only reports the cancel. It returns
// how many slots are left.
func (l *eventLoop) startFallbacks(free int) int {
	left := l.fallbacks[:0]
	for _, t := range l.fallbacks {
		switch {
		case t.ctx.Err() != nil || t.at.f.stopped != "":
			l.tasks = append(l.tasks, t)
		case free > 0:
			free--
			t.slot = true
			l.tasks = append(l.tasks, t)
		default:
			left = append(left, t)
		}
	}
	l.fallbacks = left
	return free
}

// collect applies what workers reported. An error of a runner ends the run, but only after
// all other reports have been recorded.
func (l *eventLoop) collect(now time.Time) (err error) {
	l.reports = l.pool.takeReports(l.reports)
	released := 0
	for _, t := range l.reports {
		l.inFlight--
		switch {
		case t.err != nil:
			err = cmp.Or(err, fmt.Errorf("cannot continue: step %s: %w", t.at.f.path(t.at.i), t.err))
		case t.bind && t.res.Status == Pending:
			if e := l.argsBound(t, now); e != nil {
				err = cmp.Or(err, fmt.Errorf("cannot continue: %w", e))
			}
		default:
			l.report(t, now)
		}
		if t.slot {
			released++
		}
		l.freeTasks = append(l.freeTasks, t)
	}
	if released > 0 {
		l.slots -= released
		l.options.Slots.give(released)
	}
	return err
}

// report records the result of an attempt, of a walk, or of a node whose arguments could
// not be computed.
func (l *eventLoop) report(t *task, now time.Time) {
	var e Event
	switch {
	case t.completes != nil:
		e = l.state.finishEvent(t.completes, t.res, now)
	case t.bind:
		e = l.state.bindFailedEvent(t.at, t.res, now)
	default:
		e = l.state.outcomeEvent(t.at, t.res, now)
	}
	l.batch = append(l.batch, e)
	l.apply(&l.batch[len(l.batch)-1], now)
	if e.Kind != StepFallback {
		return
	}
	// If the attempt had a slot, its fallback uses the same one.
	if t.slot {
		l.tasks = append(l.tasks, l.fallback(t.at, t.slot))
	} else {
		l.fallbacks = append(l.fallbacks, l.fallback(t.at, t.slot))
	}
	t.slot = false
}

// fallback makes the task for the fallback of a node.
func (l *eventLoop) fallback(at place, slot bool) *task {
	n := at.f.node(at.i)
	return l.newTask(task{at: at, ctx: l.contextFor(at), attempt: int(n.attempt), fallback: true, slot: slot, previous: n.res})
}

// argsBound starts the nodes of a graph or a loop whose arguments are known.
func (l *eventLoop) argsBound(t *task, now time.Time) error {
	c := t.at.f.children[t.at.i]
	switch w, loops := c.walk.(*loopWalk); {
	case !loops || c.expanded && w.sameItems(t.items):
	case !c.expanded:
		l.batch = append(l.batch, Event{Kind: StepExpanded, Node: t.at.f.path(t.at.i), Items: t.items.Len(), Keys: t.items.Keys(), Digest: t.items.Digest(), at: t.at})
		l.apply(&l.batch[len(l.batch)-1], now)
	default: // nothing is recorded, so that the run can be resumed later with the items it had
		return fmt.Errorf("the items of step %s changed since the run began: restore the items, or start the step again in a new run (retry --from %s)",
			t.at.f.path(t.at.i), t.at.f.path(t.at.i))
	}
	l.state.apply(&Event{Kind: stepBound, Seq: l.seq, Time: now, at: t.at, args: t.args, items: t.items})
	l.rebind(c)
	return nil
}

// newTask returns a task to submit, with a Result to fill in. Tasks are used again and
// Results are allocated in slabs, so that many short steps cause few allocations.
func (l *eventLoop) newTask(t task) *task {
	if len(l.resultSlab) == 0 {
		l.resultSlab = make([]Result, 64)
	}
	t.res = &l.resultSlab[0]
	l.resultSlab = l.resultSlab[1:]
	if len(l.freeTasks) == 0 {
		l.freeTasks = append(l.freeTasks, new(task))
	}
	last := len(l.freeTasks) - 1
	p := l.freeTasks[last]
	l.freeTasks = l.freeTasks[:last]
	*p = t
	return p
}

// apply gives an event its number and time and applies it. The event must be in the batch.
func (l *eventLoop) apply(e *Event, now time.Time) {
	l.seq++
	e.V, e.Seq, e.Run, e.Time = EventVersion, l.seq, l.state.run, now
	if e.Kind == StepRetrying && e.at.f != nil {
		e.Due = now.Add(e.at.f.def(e.at.i).Policy.Backoff.withJitter(e.Due.Sub(now)))
	}
	l.releaseContext(e)
	l.state.apply(e)
}

// releaseContext frees the context of a nested graph that has ended. Otherwise it would
// stay in memory as long as that of the outer graph.
func (l *eventLoop) releaseContext(e *Event) {
	if e.Kind != StepFinished && e.Kind != StepRetrying && e.Kind != StepFallback || e.at.f == nil {
		return
	}
	if f := e.at.f.children[e.at.i]; f != nil && l.controls[f] != nil {
		l.controls[f].cancel(nil)
		delete(l.controls, f)
	}
}

// prepare applies a decision and prepares its task. It returns how many slots the task
// uses.
func (l *eventLoop) prepare(e *Event, now time.Time) int {
	l.apply(e, now)
	switch e.Kind {
	case StepStarted:
		return l.startTask(e)
	case StepFallback: // of a graph or a loop, which held no slot
		l.fallbacks = append(l.fallbacks, l.fallback(e.at, false))
	}
	return 0
}

func (l *eventLoop) startTask(e *Event) int {
	f, i := e.at.f, e.at.i
	t := task{at: e.at, ctx: l.contextFor(e.at), attempt: e.Attempt, previous: f.node(i).res, slot: f.def(i).needsSlot()}
	if c := f.children[i]; c != nil {
		l.addControl(c, t.ctx)
		if c.bound {
			return 0
		}
		t.ctx, t.bind = l.controls[c].ctx, true
	}
	l.tasks = append(l.tasks, l.newTask(t))
	if t.slot {
		return 1
	}
	return 0
}

// contextFor returns the context for an attempt of a node.
func (l *eventLoop) contextFor(at place) context.Context {
	switch f := at.f; {
	case f.def(at.i).Cleanup: // limited by its own policy only: neither a cancel nor an earlier cleanup shortens its time
		return l.base
	case f.stopped != "":
		return l.cleanupContext(f)
	case f.node(at.i).outlasts:
		return l.outlastContext(f)
	default:
		return l.controls[f].ctx
	}
}

// outlastContext returns the context of nodes that a cancel of the frame does not stop.
func (l *eventLoop) outlastContext(f *frame) context.Context {
	c := l.controls[f]
	if c.outlast == nil {
		c.outlast, c.expire = context.WithCancelCause(l.base)
	}
	return c.outlast
}

// cleanupContext returns the context of everything that runs in a frame after its cancel.
// It is one context, so that all of it shares one time limit.
func (l *eventLoop) cleanupContext(f *frame) context.Context {
	c := l.controls[f]
	if c.cleanup == nil {
		ctx, cancel := context.WithDeadlineCause(l.base, f.cleanupDeadline, ErrTimeout)
		_ = cancel // base ends with the run, and this context with it
		c.cleanup = ctx
	}
	return c.cleanup
}

// publish records the events of the turn and sends them to the sinks.
func (l *eventLoop) publish() error {
	if err := l.journal(); err != nil {
		return fmt.Errorf("cannot record the run's events: %w", err)
	}
	for _, s := range l.options.Sinks {
		for i := range l.batch {
			s.Emit(l.batch[i])
		}
	}
	return nil
}

// journal records the events of the turn.
func (l *eventLoop) journal() error {
	j := l.options.Journal
	if len(l.batch) == 0 || j == nil {
		return nil
	}
	if err := j.Append(l.record, l.batch); err != nil {
		return err
	}
	if !slices.ContainsFunc(l.batch, needsSync) {
		return nil
	}
	return j.Sync(l.record)
}

// needsSync reports whether an event must be durable before Run acts on it.
func needsSync(e Event) bool {
	switch e.Kind {
	case RunFinished:
		return true
	case StepStarted, StepFallback:
		return e.at.f != nil && e.at.f.def(e.at.i).DurableStart
	}
	return false
}

// act carries out what was decided and recorded: it cancels contexts and starts tasks.
func (l *eventLoop) act() {
	for i := range l.batch {
		if e := &l.batch[i]; e.Kind == RunCancelling {
			l.cancelContexts(e)
		}
	}
	l.inFlight += len(l.tasks)
	l.pool.submit(l.tasks)
}

// cancelContexts ends the contexts of a cancelled frame, and with them those of nested
// frames.
func (l *eventLoop) cancelContexts(e *Event) {
	if e.Reason == ReasonForced {
		l.force(&Cancel{Reason: ReasonForced, Cause: ErrForced})
		return
	}
	if f := l.state.cancelledFrame(e); f != nil {
		if c := l.controls[f]; c != nil {
			c.cancel(&Cancel{Reason: e.Reason, Cause: context.Cause(l.ctx)})
		}
		l.limitCleanup(f)
	}
}

// limitCleanup sets the end of the cleanup time for nodes that still run in a cancelled
// frame.
func (l *eventLoop) limitCleanup(f *frame) {
	if f.stopped == "" {
		return // not cancelled: it belongs to a node that outlasts the cancel
	}
	if c := l.controls[f]; c != nil && c.expire != nil {
		l.onExit = append(l.onExit, context.AfterFunc(l.cleanupContext(f), func() { c.expire(ErrTimeout) }))
	}
	for _, c := range f.children {
		l.limitCleanup(c)
	}
}

// wait sleeps until there is a reason for another turn.
func (l *eventLoop) wait(wake time.Time) {
	var due <-chan time.Time
	if !wake.IsZero() {
		t := time.NewTimer(time.Until(wake))
		defer t.Stop()
		due = t.C
	}
	done := l.ctx.Done()
	if l.cancelSeen {
		done = nil // already recorded
	}
	select {
	case <-l.pool.wake:
	case <-due:
	case <-done:
	case <-l.options.Force:
	case a, more := <-l.options.Answers:
		l.receiveAnswer(a, more)
	case <-l.releaseSignal():
	case <-l.options.Abandon:
	}
}
