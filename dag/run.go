package dag

import (
	"context"
	"errors"
	"runtime"
	"time"
)

// ErrStuck is returned by Run if nothing runs, nothing can start, and the run has not ended: a bug of this package.
var ErrStuck = errors.New("nothing runs, nothing can start, and the run has not ended")

// ErrTimeout is the cause of a context whose attempt took too long.
var ErrTimeout = errors.New("the step exceeded its timeout")

// StopWithin is the cause of a context when processes have no more time to end than this.
type StopWithin time.Duration

func (StopWithin) Error() string { return "stopped by force" }

// errForced is the cause of a context when the caller asked to stop a second time: stop
// immediately, without a grace period.
const errForced = StopWithin(0)

// Cancel is the cause of a context when the run, or a graph in it, is cancelled.
type Cancel struct {
	Reason string // ReasonCancelled, ReasonTimeout, ReasonFailFast
	Cause  error  // the caller's cause, may be nil
}

func (c *Cancel) Error() string {
	if c.Cause != nil {
		return c.Reason + ": " + c.Cause.Error()
	}
	return c.Reason
}

func (c *Cancel) Unwrap() error { return c.Cause }

// DefaultCleanup is how long the cleanup may take after a cancel.
const DefaultCleanup = 60 * time.Second

// Options configure Run. The zero Options have no journal, no observers, and
// DefaultParallel slots.
type Options struct {
	ID      string          // id of the run, for its events
	Slots   *Slots          // may be shared by runs; nil: DefaultParallel slots for this run
	Journal Journal         // nil: events are not recorded
	Sinks   []Sink          // each gets every event after it was recorded
	Cleanup time.Duration   // time limit for always() and cancelled() nodes after a cancel; 0: DefaultCleanup
	Force   <-chan struct{} // when closed, the run is cancelled and these nodes are stopped too

	// Close Release to stop the run so that another owner can continue it: no new leaf
	// starts, and when those that run have ended, Run returns ErrReleased. Close Abandon to
	// do so without waiting: leaves are stopped and the Journal gets no event about it. If
	// the run is being cancelled, Release lets it finish first; Abandon does not.
	Release, Abandon <-chan struct{}

	// Around, if set, is called instead of every Runner, those of fallbacks included. It
	// may call the Runner. It serves to measure steps or to replace them.
	Around func(ctx context.Context, c *Call, r Runner) (Result, error)

	// Acquire, if set, waits until an attempt of the node with this path may hold what the node
	// claims (Node.Claim), or until ctx ends; it is called in a goroutine that holds no slot,
	// before the attempt starts. release is called when the attempt has ended, or does not
	// start. If it is nil, claims are not asked for. An error stops the whole run.
	Acquire func(ctx context.Context, path ID, claim any) (release func(), err error)

	// Answers end waits. Answers that are in the channel when Run is called are applied
	// before Run checks whether a wait is over. An answer that matches no wait is dropped.
	Answers <-chan Answer
	// Attended means that a person is asked whenever a node waits for an answer. The run
	// continues until there is an answer, or an Answer without a Result. If it is false,
	// Run returns as soon as everything left waits for answers.
	Attended bool

	// Carry is a State folded from the events of a journal, to continue a run instead of
	// starting one. Run owns it from then on. Opening must then begin with RunResumed,
	// after which no leaf may be running.
	Carry *State
	// Since is when the run was created, or, with Carry, when its last owner gave the last sign of
	// life; zero if that is not known. The first event says how long ago it was (Event.Queued).
	Since time.Time
	// Opening are events to record before anything else: that the run is resumed, or the
	// results that a new run takes from an old one. Run sets their numbers and times.
	Opening []Event
}

// DefaultParallel returns how many leaves run at the same time by default.
func DefaultParallel() int { return max(4, 2*runtime.NumCPU()) }

// Run runs g until every node has settled, and returns the final state.
//
// When ctx is cancelled, the run is cancelled: running nodes are stopped, always() and
// cancelled() nodes still run, and Run returns the state with a nil error. It also returns
// a nil error when everything left waits for answers and no one is asked here. Then the
// state has no Result, and another Run can continue it.
//
// An error means that the engine could not do its job: a Runner or the Journal failed. What
// was running has been stopped, and the state is that of the moment; the events of the last
// turn may be missing from the Journal. ErrReleased means that Options.Release or
// Options.Abandon was closed. No goroutine outlives Run.
func Run(ctx context.Context, g *Graph, a Args, o Options) (*State, error) {
	if o.Carry == nil {
		o.Carry = NewState(o.ID, g, a)
	}
	if o.Slots == nil {
		o.Slots = NewSlots(DefaultParallel())
	}
	if o.Cleanup <= 0 {
		o.Cleanup = DefaultCleanup
	}
	l := &eventLoop{ctx: ctx, options: o, pool: newPool(o.ID), controls: map[*frame]*control{}}
	l.pool.around, l.pool.acquires = o.Around, o.Acquire
	line := &ticket{slots: o.Slots, wake: l.pool.wake}
	l.machine = machine{state: o.Carry, slots: line, opening: o.Opening, since: o.Since, seq: o.Carry.seq, jitter: randomPart}
	l.state.apply(&Event{Kind: runOwned, limits: &ownerLimits{o.Cleanup, int32(o.Slots.all)}})
	l.state.acquires = o.Acquire != nil
	l.record = context.WithoutCancel(ctx)
	l.base, l.force = context.WithCancelCause(l.record)
	l.addControl(l.state.root)
	err := l.run()
	for _, takeBack := range l.onExit {
		takeBack()
	}
	l.force(err) // stops what still runs if the run ended early
	l.pool.close()
	l.dropClaims(l.pool.takeReports(nil))
	line.take(0)
	line.give(l.held)
	return l.state, err
}
