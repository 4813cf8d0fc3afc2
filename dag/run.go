package dag

import (
	"context"
	"errors"
	"runtime"
	"time"
)

// ErrTimeout is the cause of a context whose try took too long.
var ErrTimeout = errors.New("the step exceeded its timeout")

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
	Sinks   []Sink          // called with every event after it was journalled
	Cleanup time.Duration   // bound of always() and cancelled() nodes after a cancel; 0: DefaultCleanup
	Force   <-chan struct{} // closing it cancels the run and stops even those

	// Closing Release lets the run go, for another owner to go on with: no leaf starts
	// any more, and when those that run have ended Run returns ErrReleased. Closing
	// Abandon does not wait for them: they are stopped, and the Journal does not hear
	// of it. A run that is being cancelled is brought to its end first, unless it is
	// abandoned.
	Release, Abandon <-chan struct{}

	// Around, where set, is called in place of every Runner, those of fallbacks too,
	// and may call it: to measure it, or to answer in its place.
	Around func(ctx context.Context, c *Call, r Runner) (Result, error)

	// Answers end waits. What is in the channel when Run is called is heeded before
	// the time of any wait is looked at; one that fits nothing that waits is dropped.
	Answers <-chan Answer
	// Attended says that somebody is asked whenever a node waits for an answer: the
	// run goes on until there is one, or one without a Result. Else the run rests as
	// soon as all that is left to do waits for answers.
	Attended bool

	// Carry is a run to go on with instead of beginning one: a State folded from the
	// events of a journal. It is the run's from then on. Opening then begins with
	// RunResumed, and no leaf in it may be running after that.
	Carry *State
	// Opening are events to record before anything else is decided: that the run is
	// resumed, or what a new run takes over from an old one. Their numbers and times
	// are filled in.
	Opening []Event
}

// DefaultParallel is how many leaves run at once unless told otherwise.
func DefaultParallel() int { return max(4, 2*runtime.NumCPU()) }

// Run walks g until every node has settled and returns the final state. When ctx
// is cancelled the run is cancelled: running nodes are stopped, always() and
// cancelled() nodes still run, and Run returns the state with a nil error. So it does
// where the run rests: everything that is left waits for answers, which nobody here
// gives; then the state has no Result, and another Run may carry it on. An error means the engine could not do its job: a Runner or the Journal failed. What
// still ran was stopped, and the state is as far as the run had come; of its last
// turn the Journal may know nothing. No goroutine outlives Run.
func Run(ctx context.Context, g *Graph, a Args, o Options) (*State, error) {
	l := &eventLoop{ctx: ctx, options: o, state: o.Carry, pool: newPool(o.ID), controls: map[*frame]*control{}}
	l.pool.around = o.Around
	if l.state == nil {
		l.state = NewState(o.ID, g, a)
	}
	l.seq = l.state.seq
	if l.options.Slots == nil {
		l.options.Slots = NewSlots(DefaultParallel())
	}
	if l.options.Cleanup <= 0 {
		l.options.Cleanup = DefaultCleanup
	}
	l.state.apply(&Event{Kind: runOwned, limits: &ownerLimits{l.options.Cleanup, int32(l.options.Slots.all)}})
	l.ticket.wake = l.pool.wake
	l.record = context.WithoutCancel(ctx)
	l.base, l.force = context.WithCancelCause(l.record)
	l.addControl(l.state.root, l.base)
	err := l.run()
	for _, takeBack := range l.onExit {
		takeBack()
	}
	l.force(err) // stops what still runs when the run ended early
	l.pool.close()
	l.options.Slots.take(&l.ticket, 0)
	l.options.Slots.give(l.slots)
	return l.state, err
}
