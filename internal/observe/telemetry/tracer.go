package telemetry

import (
	"context"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// Tracer makes and sends the spans of runs, and gives steps their trace context. It observes
// any number of concurrent runs.
type Tracer struct {
	out *sender // nil: nothing is sent

	mu   sync.Mutex
	runs map[string]*run
}

// Options configures a Tracer.
type Options struct {
	Service string // service.name, unless a variable sets it
	Version string // service.version
	Flowrun string // the version of flowrun
	// Warn, if set, is called once, from any goroutine, when spans are lost for the first
	// time.
	Warn func(error)
}

// New creates a Tracer. Without settings it sends nothing, and only passes on the contexts
// that runs were started with. The caller must call Close.
func New(s *Settings, o Options) *Tracer {
	t := &Tracer{runs: map[string]*run{}}
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

// Observe implements flowrun.Observer. The state of a resumed run is built from its recorded
// events, because other processes may have executed it in between.
func (t *Tracer) Observe(o history.ObservedRun) (sink dag.Sink, done func()) {
	r := newRun(t.out, o)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs[o.ID] = r
	return dag.SinkFunc(func(e dag.Event) { r.emit(&e) }), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.runs, o.ID)
	}
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
