package telemetry

import (
	"context"
	"sync"

	"github.com/flowrun/flowrun/dag"
)

// Tracer makes and sends the spans of runs, and tells steps their trace context. It is
// a dag.Sink for an engine, with any number of runs at once.
type Tracer struct {
	about func(run string) About
	out   *sender // nil: nothing is sent

	mu   sync.Mutex
	runs map[string]*run
}

// Options are what a Tracer is told of its program.
type Options struct {
	Version string // of the program
	// About answers for a run that begins, or is taken up, when its first event comes.
	// It is called from the goroutine that owns the run.
	About func(run string) About
	// Warn, where set, is called once, from any goroutine, when spans are lost for the
	// first time.
	Warn func(error)
}

// About is a run as a trace shows it.
type About struct {
	Tool string
	// Parent and State are the TRACEPARENT and TRACESTATE that the run began with, ""
	// for none. One that is not valid counts as none; one that is not sampled keeps the
	// run from being sent.
	Parent, State string
	Links         []Context // spans the run has to do with: of the run it tries again, say
	// Past are the events on record of a run that is taken up, those that come through
	// the sink left out.
	Past []dag.Event
}

// New makes a Tracer. Without settings it sends nothing, and only passes on the contexts
// that runs came with. Close must follow.
func New(s *Settings, o Options) *Tracer {
	t := &Tracer{about: o.About, runs: map[string]*run{}}
	if s != nil {
		t.out = newSender(s, o)
	}
	return t
}

// Close sends what there is still to send, until ctx ends. Spans that have not ended are
// not sent: another process may take the run up and end them.
func (t *Tracer) Close(ctx context.Context) {
	if t.out != nil {
		t.out.close(ctx)
	}
}

// Emit takes an event in. A run that is taken up is met anew: others may have had it
// since.
func (t *Tracer) Emit(e dag.Event) {
	t.mu.Lock()
	r := t.runs[e.Run]
	t.mu.Unlock()
	if r == nil || e.Kind == dag.RunResumed {
		r = newRun(t.out, e.Run, t.about(e.Run))
		t.mu.Lock()
		t.runs[e.Run] = r
		t.mu.Unlock()
	}
	r.emit(&e)
	if e.Kind == dag.RunFinished {
		t.mu.Lock()
		delete(t.runs, e.Run)
		t.mu.Unlock()
	}
}

// Leave forgets a run that its engine is done with, and that may not have ended: another
// may go on with it.
func (t *Tracer) Leave(run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.runs, run)
}

// Trace is flowrun.Config.Trace: the context for what a step starts in the try that is
// under way. It is that of the try's own span where spans are sent, else the one the run
// came with.
func (t *Tracer) Trace(run string, step dag.ID, _ int) (parent, state string) {
	t.mu.Lock()
	r := t.runs[run]
	t.mu.Unlock()
	if r == nil {
		return "", ""
	}
	c := r.at(step)
	return c.String(), c.State
}
