package telemetry

import (
	"context"
	"sync"

	"github.com/flowrun/flowrun/dag"
)

// Tracer makes and sends the spans of runs, and gives steps their trace context. It is a
// dag.Sink for an engine with any number of concurrent runs.
type Tracer struct {
	about func(run string) About
	out   *sender // nil: nothing is sent

	mu   sync.Mutex
	runs map[string]*run
}

// Options configures a Tracer.
type Options struct {
	Version string // of the program
	// About describes a run. It is called at the first event after the run was started or
	// resumed, from the goroutine that owns the run.
	About func(run string) About
	// Warn, if set, is called once, from any goroutine, when spans are lost for the first
	// time.
	Warn func(error)
}

// About describes a run for its trace.
type About struct {
	Tool string
	// Parent and State are the TRACEPARENT and TRACESTATE that the run was started with, ""
	// for none. An invalid parent counts as none. A run whose parent is not sampled is not
	// sent.
	Parent, State string
	Links         []Context // spans related to the run, for example of the run that it retries
	// Recorded are the recorded events of a resumed run, without those that the sink receives.
	Recorded []dag.Event
}

// New creates a Tracer. Without settings it sends nothing, and only passes on the contexts
// that runs were started with. The caller must call Close.
func New(s *Settings, o Options) *Tracer {
	t := &Tracer{about: o.About, runs: map[string]*run{}}
	if s != nil {
		t.out = newSender(s, o)
	}
	return t
}

// Close sends the remaining spans, until ctx ends. Spans that have not ended are not sent:
// another process may resume the run and end them.
func (t *Tracer) Close(ctx context.Context) {
	if t.out != nil {
		t.out.close(ctx)
	}
}

// Emit processes an event. The state of a resumed run is built anew, because other
// processes may have executed it in between.
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

// Leave removes a run that the engine has finished with. The run may not have ended:
// another process may resume it.
func (t *Tracer) Leave(run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.runs, run)
}

// Trace implements flowrun.Config.Trace. It returns the context for what a step starts in
// its current attempt: that of the attempt's span if spans are sent, otherwise the one that
// the run was started with.
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
