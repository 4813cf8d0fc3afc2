package dag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// loop is the one goroutine that owns a run's State.
type loop struct {
	ctx     context.Context // the caller's
	record  context.Context // the journal's: never cancelled, or a cancel could not be recorded
	base    context.Context // of all work; ends only by force
	force   context.CancelCauseFunc
	options Options
	state   *State
	pool    *pool
	ticket  ticket
	queued  bool // the ticket may stand in the queue
	held    int  // slots
	out     int  // tasks with workers
	seq     uint64
	batch   []Event
	tasks   []*task
	mail    []*task
	spare   []*task // done with, to be used again
	slab    []Result
	stopped bool // the caller's cancel has been heeded
}

// control is what the loop keeps with a frame to stop it.
type control struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	cleanup context.Context // of what runs after a cancel; nil until needed
}

func (l *loop) hold(f *frame, parent context.Context) {
	f.hands.ctx, f.hands.cancel = context.WithCancelCause(parent)
}

func (l *loop) run() error {
	for {
		wake, err := l.turn()
		if err != nil || l.state.result != nil {
			return err
		}
		if l.out == 0 && wake.IsZero() && !l.state.undecided() {
			return errors.New("internal error: nothing runs, nothing can start, and the run has not ended")
		}
		l.wait(wake)
	}
}

// turn is decide, record, act. Reports are folded in first; decisions are asked
// for until there are none, so that a turn is one call to the journal.
func (l *loop) turn() (wake time.Time, err error) {
	now := time.Now()
	l.batch, l.tasks = l.batch[:0], l.tasks[:0]
	if err := l.collect(now); err != nil {
		return wake, errors.Join(err, l.tell())
	}
	for {
		l.heed(now)
		free := l.claim(now)
		known := len(l.batch)
		l.batch, wake = l.state.Next(l.batch, now, free)
		if len(l.batch) == known {
			break
		}
		for i := known; i < len(l.batch); i++ {
			free -= l.begin(&l.batch[i], now)
		}
		if free > 0 { // ready nodes ran out first
			l.held -= free
			l.options.Slots.give(free)
		}
	}
	if err := l.tell(); err != nil {
		return wake, err
	}
	l.act()
	return wake, nil
}

// heed records that the caller wants the run to stop, once for each way.
func (l *loop) heed(now time.Time) {
	if !l.state.started {
		return // run.started comes first
	}
	if !l.stopped && l.ctx.Err() != nil {
		l.stopped = true
		l.batch = append(l.batch, l.state.cancelling(l.state.root, ReasonCancelled))
		l.note(&l.batch[len(l.batch)-1], now)
	}
	select {
	case <-l.options.Force:
		l.options.Force, l.stopped = nil, true
		l.batch = append(l.batch, l.state.cancelling(l.state.root, ReasonForced))
		l.note(&l.batch[len(l.batch)-1], now)
	default:
	}
}

// claim gets slots for the leaves that could start.
func (l *loop) claim(now time.Time) int {
	want := l.state.startable(now)
	if want == 0 && !l.queued {
		return 0
	}
	free := l.options.Slots.take(&l.ticket, want)
	l.queued = free < want
	l.held += free
	return free
}

// collect folds in what workers reported. A runner's error ends the run, but not
// before everything else that was reported has been noted.
func (l *loop) collect(now time.Time) (err error) {
	l.mail = l.pool.take(l.mail)
	released := 0
	for _, t := range l.mail {
		l.out--
		f := t.at.f
		switch {
		case t.err != nil:
			err = cmp.Or(err, fmt.Errorf("cannot go on: step %s: %w", f.path(t.at.i), t.err))
		case t.bind && t.res.Status == Pending:
			l.state.bind(f.children[t.at.i], t.args)
		case t.bind:
			l.state.refuse(f.children[t.at.i], t.res)
		default:
			l.batch = append(l.batch, l.state.outcome(t.at, t.res, now))
			e := &l.batch[len(l.batch)-1]
			l.note(e, now)
			if e.Kind == StepFallback {
				// The fallback takes over the slot of the try it follows.
				l.tasks = append(l.tasks, l.task(task{at: t.at, ctx: t.ctx, attempt: t.attempt, fallback: true, slot: true, previous: t.res}))
				t.slot = false
			}
		}
		if t.slot {
			released++
		}
		l.spare = append(l.spare, t)
	}
	if released > 0 {
		l.held -= released
		l.options.Slots.give(released)
	}
	return err
}

// task is a task to submit, with a Result of its own to fill in. Tasks are used
// again and Results come from slabs: many short steps cost few allocations.
func (l *loop) task(t task) *task {
	if len(l.slab) == 0 {
		l.slab = make([]Result, 64)
	}
	t.res = &l.slab[0]
	l.slab = l.slab[1:]
	if len(l.spare) == 0 {
		l.spare = append(l.spare, new(task))
	}
	last := len(l.spare) - 1
	p := l.spare[last]
	l.spare = l.spare[:last]
	*p = t
	return p
}

// note numbers and applies an event of the turn's batch.
func (l *loop) note(e *Event, now time.Time) {
	l.seq++
	e.V, e.Seq, e.Run, e.Time = EventVersion, l.seq, l.state.run, now
	l.state.apply(e)
}

// begin notes a decision and prepares the task it asks for. It answers how many
// slots that uses.
func (l *loop) begin(e *Event, now time.Time) int {
	l.note(e, now)
	if e.Kind != StepStarted && e.Kind != StepFallback {
		return 0
	}
	f, i := e.at.f, e.at.i
	ctx := f.hands.ctx
	switch {
	case f.stopped != "":
		ctx = l.cleanup(f)
	case f.g.nodes[i].Aside: // a cancel that comes now must not keep it from cleaning up
		ctx = l.base
	}
	t := task{at: e.at, ctx: ctx, attempt: e.Attempt, previous: f.node(i).res, fallback: e.Kind == StepFallback}
	if c := f.children[i]; c != nil {
		l.hold(c, ctx)
		if c.bound {
			return 0
		}
		t.ctx, t.bind = c.hands.ctx, true
	}
	t.slot = !t.bind
	l.tasks = append(l.tasks, l.task(t))
	if t.slot {
		return 1
	}
	return 0
}

// cleanup is the context of everything that runs in a frame after its cancel: one
// context, so that the bound is one bound.
func (l *loop) cleanup(f *frame) context.Context {
	if f.hands.cleanup == nil {
		ctx, cancel := context.WithDeadlineCause(l.base, f.until, ErrTimeout)
		_ = cancel // base ends with the run, and this context with it
		f.hands.cleanup = ctx
	}
	return f.hands.cleanup
}

// tell records the turn's events and shows them to those who watch.
func (l *loop) tell() error {
	if len(l.batch) > 0 && l.options.Journal != nil {
		if err := l.options.Journal.Append(l.record, l.batch); err != nil {
			return fmt.Errorf("cannot record the run's events: %w", err)
		}
	}
	for _, s := range l.options.Sinks {
		for i := range l.batch {
			s.Emit(l.batch[i])
		}
	}
	return nil
}

// act does what was decided and recorded: it stops and it starts.
func (l *loop) act() {
	for i := range l.batch {
		if e := &l.batch[i]; e.Kind == RunCancelling {
			l.stop(e)
		}
	}
	l.out += len(l.tasks)
	l.pool.submit(l.tasks)
}

// stop ends the contexts of a cancelled frame; those of nested frames follow.
func (l *loop) stop(e *Event) {
	if e.Reason == ReasonForced {
		l.force(&Cancel{Reason: ReasonForced, Cause: ErrForced})
		return
	}
	if f := l.state.walk(e); f != nil {
		f.hands.cancel(&Cancel{Reason: e.Reason, Cause: context.Cause(l.ctx)})
	}
}

// wait sleeps until there is a reason for another turn.
func (l *loop) wait(wake time.Time) {
	var due <-chan time.Time
	if !wake.IsZero() {
		t := time.NewTimer(time.Until(wake))
		defer t.Stop()
		due = t.C
	}
	done := l.ctx.Done()
	if l.stopped {
		done = nil // heeded
	}
	select {
	case <-l.pool.wake:
	case <-due:
	case <-done:
	case <-l.options.Force:
	}
}
