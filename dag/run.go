package dag

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// ErrTimeout is the cause of a context whose try took too long.
var ErrTimeout = errors.New("the step took too long")

// ErrForced is the cause of a context when the caller asked a second time: stop
// at once, without grace.
var ErrForced = errors.New("stopped by force")

// Cancel is the cause of a context when the run, or a graph in it, was cancelled.
type Cancel struct {
	Reason string // ReasonCancelled, ReasonTimeout, ReasonFailFast
	Cause  error  // what the caller gave, may be nil
}

func (c *Cancel) Error() string {
	if c.Cause != nil {
		return c.Reason + ": " + c.Cause.Error()
	}
	return c.Reason
}

func (c *Cancel) Unwrap() error { return c.Cause }

// DefaultCleanup bounds what runs after a cancel.
const DefaultCleanup = 60 * time.Second

// Options are how a graph is run. The zero Options work: no journal, nobody
// watching, as many leaves at once as DefaultParallel says.
type Options struct {
	ID      string          // the run's id, put into events
	Slots   *Slots          // shared by runs; nil: slots of its own
	Journal Journal         // nil: nothing is kept
	Sinks   []Sink          // told of every event after it was journalled
	Cleanup time.Duration   // bound of always() and cancelled() nodes after a cancel; 0: DefaultCleanup
	Force   <-chan struct{} // closing it stops even those
}

// DefaultParallel is how many leaves run at once unless told otherwise.
func DefaultParallel() int { return max(4, 2*runtime.NumCPU()) }

// Run walks g until every node has settled and returns the final state. When ctx
// is cancelled the run is cancelled: running nodes are stopped, always() and
// cancelled() nodes still run, and Run returns the state with a nil error. An
// error means the engine could not do its job: a Runner or the Journal failed;
// the state is what had been recorded until then. No goroutine outlives Run.
func Run(ctx context.Context, g *Graph, a Args, o Options) (*State, error) {
	l := &loop{ctx: ctx, options: o, state: NewState(o.ID, g, a), pool: newPool(o.ID)}
	if l.options.Slots == nil {
		l.options.Slots = NewSlots(DefaultParallel())
	}
	if l.options.Cleanup <= 0 {
		l.options.Cleanup = DefaultCleanup
	}
	l.ticket.wake = l.pool.wake
	l.base, l.force = context.WithCancelCause(context.WithoutCancel(ctx))
	defer l.force(nil)
	l.hold(l.state.root, l.base)
	err := l.run()
	l.pool.close()
	l.options.Slots.give(&l.ticket, l.held, true)
	return l.state, err
}

// loop is the one goroutine that owns a run's State.
type loop struct {
	ctx     context.Context // the caller's
	base    context.Context // of all work; ends only by force
	force   context.CancelCauseFunc
	options Options
	state   *State
	pool    *pool
	ticket  ticket
	held    int // slots
	out     int // tasks with workers
	seq     uint64
	batch   []Event
	tasks   []*task
	mail    []*task
	spare   []*task // done with, to be used again
	slab    []Result
	stopped bool // the caller's cancel has been seen
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
			return l.end(err)
		}
		if l.out == 0 && wake.IsZero() && l.state.ready == 0 && len(l.state.again) == 0 {
			return l.end(errors.New("internal error: nothing runs, nothing can start, and the run has not ended"))
		}
		if err := l.wait(wake); err != nil {
			return l.end(err)
		}
	}
}

// turn is decide, record, act. Reports are folded in first; decisions are asked
// for until there are none, so that a turn is one call to the journal.
func (l *loop) turn() (wake time.Time, err error) {
	now := time.Now()
	l.batch, l.tasks = l.batch[:0], l.tasks[:0]
	if err := l.collect(now); err != nil {
		return wake, err
	}
	for {
		free := 0
		if want := l.state.startable(now); want > 0 {
			free = l.options.Slots.take(&l.ticket, want)
		}
		known := len(l.batch)
		l.batch, wake = l.state.Next(l.batch, now, free)
		used := 0
		for i := known; i < len(l.batch); i++ {
			used += l.note(&l.batch[i], now)
		}
		l.held += used
		if free > used { // ready nodes ran out first
			l.options.Slots.give(&l.ticket, free-used, true)
		}
		if len(l.batch) == known {
			break
		}
	}
	return wake, l.recordAndAct()
}

// collect folds in what workers reported.
func (l *loop) collect(now time.Time) error {
	l.mail = l.pool.take(l.mail)
	released := 0
	for _, t := range l.mail {
		l.out--
		if t.err != nil && !t.bind {
			return fmt.Errorf("step %s: %w", t.at.f.path(t.at.i), t.err)
		}
		if t.bind && !l.refused(t) {
			l.bound(t)
			continue
		}
		l.batch = append(l.batch, l.state.outcome(t.at, t.res, now))
		e := &l.batch[len(l.batch)-1]
		l.note(e, now)
		if e.Kind == StepFallback {
			// The fallback takes over the slot of the try it follows.
			f := l.task(task{at: t.at, ctx: t.ctx, attempt: t.attempt, fallback: true, slot: t.slot, previous: t.res})
			l.tasks = append(l.tasks, f)
		} else if t.slot {
			released++
		}
		l.spare = append(l.spare, t)
	}
	if released > 0 {
		l.held -= released
		l.options.Slots.give(&l.ticket, released, false)
	}
	return nil
}

// refused says whether binding a nested graph's arguments failed, and makes the
// node's result of it.
func (l *loop) refused(t *task) bool {
	if t.err != nil {
		now := time.Now()
		*t.res = Result{Status: Failed, ExitCode: 1, Reason: ReasonInput, Message: t.err.Error(), Permanent: true, Started: now, Ended: now}
		judge(t.ctx, t.res, true)
	}
	return t.res.Status != Pending
}

func (l *loop) bound(t *task) {
	if c := t.at.f.children[t.at.i]; c != nil && !c.bound {
		l.state.bind(c, t.args)
	}
	l.spare = append(l.spare, t)
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

// note numbers and applies an event of the turn's batch. It answers how many
// slots the event uses.
func (l *loop) note(e *Event, now time.Time) int {
	l.seq++
	e.V, e.Seq, e.Run, e.Time = EventVersion, l.seq, l.options.ID, now
	cleanup := e.Kind == StepStarted && e.at.f.stopped != ""
	l.state.apply(e)
	if e.Kind != StepStarted {
		return 0
	}
	return l.start(e, cleanup)
}

// start prepares the task of a started node.
func (l *loop) start(e *Event, cleanup bool) int {
	f, i := e.at.f, e.at.i
	ctx := f.hands.ctx
	if cleanup {
		ctx = l.cleanup(f)
	}
	t := task{at: e.at, ctx: ctx, attempt: e.Attempt, previous: f.node(i).res}
	def := &f.g.nodes[i]
	if def.Graph == nil {
		t.slot = true
		l.tasks = append(l.tasks, l.task(t))
		return 1
	}
	c := f.children[i]
	l.hold(c, ctx)
	if def.Bind == nil {
		l.state.bind(c, f.args)
		return 0
	}
	t.ctx, t.bind = c.hands.ctx, true
	l.tasks = append(l.tasks, l.task(t))
	return 0
}

// cleanup is the context of everything that runs in a frame after its cancel: one
// context, so that the bound is one bound.
func (l *loop) cleanup(f *frame) context.Context {
	if f.hands.cleanup == nil {
		ctx, cancel := context.WithTimeoutCause(l.base, l.options.Cleanup, ErrTimeout)
		context.AfterFunc(l.base, cancel)
		f.hands.cleanup = ctx
	}
	return f.hands.cleanup
}

func (l *loop) recordAndAct() error {
	if len(l.batch) > 0 && l.options.Journal != nil {
		if err := l.options.Journal.Append(l.base, l.batch); err != nil {
			return fmt.Errorf("cannot record the run's events: %w", err)
		}
	}
	for _, s := range l.options.Sinks {
		for i := range l.batch {
			s.Emit(l.batch[i])
		}
	}
	for i := range l.batch {
		if e := &l.batch[i]; e.Kind == RunCancelling {
			l.stop(e)
		}
	}
	l.out += len(l.tasks)
	l.pool.submit(l.tasks)
	return nil
}

// stop ends the contexts of a cancelled frame; those of nested frames follow.
func (l *loop) stop(e *Event) {
	f := l.state.root
	if e.at.f != nil {
		f = e.at.f.children[e.at.i]
	}
	if f != nil && f.hands.cancel != nil {
		f.hands.cancel(&Cancel{Reason: e.Reason, Cause: context.Cause(l.ctx)})
	}
}

// wait sleeps until there is a reason for another turn.
func (l *loop) wait(wake time.Time) error {
	var due <-chan time.Time
	if !wake.IsZero() {
		t := time.NewTimer(time.Until(wake))
		defer t.Stop()
		due = t.C
	}
	done := l.ctx.Done()
	if l.stopped {
		done = nil
	}
	select {
	case <-l.pool.wake:
	case <-due:
	case <-l.options.Force:
		l.options.Force = nil
		l.force(ErrForced)
		return l.cancel()
	case <-done:
		return l.cancel()
	}
	return nil
}

// cancel records that the caller wants the run to stop.
func (l *loop) cancel() error {
	if l.stopped {
		return nil
	}
	l.stopped = true
	l.batch, l.tasks = append(l.batch[:0], l.state.cancelling(l.state.root, ReasonCancelled)), l.tasks[:0]
	l.note(&l.batch[0], time.Now())
	return l.recordAndAct()
}

// end stops what still runs when the run ends early and waits for it.
func (l *loop) end(err error) error {
	if err != nil {
		l.force(err)
	}
	return err
}
