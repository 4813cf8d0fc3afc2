package launch

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/telemetry"
)

// flushTimeout limits how long sending the last spans of a run may take.
const flushTimeout = 5 * time.Second

// Traces traces the runs of one engine with OpenTelemetry. All methods may be called on a nil
// Traces, which means that nothing is traced.
type Traces struct {
	tracer *telemetry.Tracer

	mu      sync.Mutex
	lastErr error
	runs    map[string]telemetry.About // runs in progress of a service, by id
}

// StartTraces makes the engine trace its run, which about describes. end sends the remaining spans;
// it ends early if force is closed. If progress is shown, errors of sending are printed.
func StartTraces(env *ui.Env, c *flowrun.Config, f ui.InteractionFlags, about func() telemetry.About) (end func(ctx context.Context, force <-chan struct{})) {
	report := func(what string, err error) {
		if err != nil && ui.Verbose(f.Progress) {
			env.Notef("%s: %v", what, err)
		}
	}
	t, err := newTraces(func(string) telemetry.About { return about() })
	report("traces are not sent", err)
	t.AddTo(c)
	return func(ctx context.Context, force <-chan struct{}) {
		report("the trace is not complete", t.End(ctx, force))
	}
}

// newTraces reads the settings of OpenTelemetry. about is as in telemetry.Options. It returns nil
// if nothing is traced. An error is about the settings and must not prevent a run, because these
// settings often apply to a whole machine.
func newTraces(about func(run string) telemetry.About) (*Traces, error) {
	settings, err := telemetry.Read()
	if settings == nil && InheritedTrace() == (flowrun.TraceContext{}) {
		return nil, err
	}
	t := &Traces{}
	t.tracer = telemetry.New(settings, telemetry.Options{Version: ui.ThisBuild().Version, About: about, Warn: func(err error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.lastErr = err
	}})
	return t, err
}

// InheritedTrace returns the trace that this process is part of, from TRACEPARENT and TRACESTATE.
// It is empty if there is none or if it is invalid.
func InheritedTrace() flowrun.TraceContext {
	c := flowrun.TraceContext{Parent: os.Getenv("TRACEPARENT"), State: os.Getenv("TRACESTATE")}
	if _, ok := telemetry.Parse(c.Parent, c.State); !ok {
		return flowrun.TraceContext{}
	}
	return c
}

// AddTo makes the engine with this configuration trace its runs.
func (t *Traces) AddTo(c *flowrun.Config) {
	if t != nil {
		c.Sinks = append(c.Sinks, t.tracer)
		c.Trace = t.tracer.Trace
	}
}

// End sends the remaining spans, for at most flushTime. It ends early if ctx is cancelled meanwhile
// or force is closed. It returns why spans were not sent.
func (t *Traces) End(ctx context.Context, force <-chan struct{}) error {
	if t == nil {
		return nil
	}
	flush, stop := context.WithTimeout(context.Background(), flushTimeout)
	defer stop()
	if ctx.Err() == nil {
		defer context.AfterFunc(ctx, stop)()
	}
	go func() {
		select {
		case <-force:
			stop()
		case <-flush.Done():
		}
	}()
	t.tracer.Close(flush)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lastErr
}

// NewServiceTraces returns the traces of a service. Errors of sending spans are logged.
func NewServiceTraces(log *slog.Logger) *Traces {
	var t *Traces
	t, err := newTraces(func(run string) telemetry.About {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.runs[run]
	})
	if err != nil {
		log.Warn("traces are not sent", "error", err.Error())
	}
	if t != nil {
		t.runs = map[string]telemetry.About{}
	}
	return t
}

// TraceRun makes a run of a service known to the tracer. Call done when the run has ended. If the
// caller has no trace, the run is part of the service's trace.
func (t *Traces) TraceRun(b service.Started) (done func()) {
	if t == nil {
		return func() {}
	}
	if b.Trace == (flowrun.TraceContext{}) {
		b.Trace = InheritedTrace()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs[b.Run] = AboutRun(b.Plan, b.Resumed, b.RetryOf, b.Trace)
	return func() {
		t.tracer.Leave(b.Run)
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.runs, b.Run)
	}
}

// AboutRun describes a run for its trace. resumed is the recorded run that is resumed, retried the one
// that is retried; both are nil for a new run. now is the trace of the caller.
func AboutRun(plan *flowrun.Plan, resumed, retried *flowrun.RecordedRun, now flowrun.TraceContext) telemetry.About {
	about := telemetry.About{Tool: plan.Name(), Parent: now.Parent, State: now.State}
	switch {
	case resumed != nil:
		trace := resumed.Record.Trace
		about.Parent, about.State, about.Recorded = trace.Parent, trace.State, resumed.Events
		if c, ok := telemetry.Parse(now.Parent, now.State); ok && now != trace {
			about.Links = append(about.Links, c)
		}
	case retried != nil:
		trace := retried.Record.Trace
		about.Links = append(about.Links, telemetry.Root(retried.Record.ID, trace.Parent, trace.State))
	}
	return about
}
