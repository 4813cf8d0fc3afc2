package launch

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/observe/telemetry"
)

// flushTimeout limits how long sending the last spans of a run may take.
const flushTimeout = 5 * time.Second

// Traces traces the runs of one engine with OpenTelemetry. All methods may be called on a nil
// Traces, which means that nothing is traced.
type Traces struct {
	tracer *telemetry.Tracer

	mu      sync.Mutex
	lastErr error
}

// StartTraces makes the engine trace its runs. end sends the remaining spans; it ends early if force
// is closed. If progress is shown, errors of sending are printed.
func StartTraces(env *ui.Env, c *engine.Config, f ui.InteractionFlags) (end func(ctx context.Context, force <-chan struct{})) {
	report := func(what string, err error) {
		if err != nil && ui.Verbose(f.Progress) {
			env.Notef("%s: %v", what, err)
		}
	}
	t, err := newTraces()
	report("traces are not sent", err)
	t.AddTo(c)
	return func(ctx context.Context, force <-chan struct{}) {
		report("the trace is not complete", t.End(ctx, force))
	}
}

// newTraces reads the settings of OpenTelemetry. It returns nil if nothing is traced. An error is
// about the settings and must not prevent a run, because these settings often apply to a whole
// machine.
func newTraces() (*Traces, error) {
	settings, err := telemetry.Read()
	if settings == nil && InheritedTrace() == (history.TraceContext{}) {
		return nil, err
	}
	t := &Traces{}
	version := ui.ThisBuild().Version
	t.tracer = telemetry.New(settings, telemetry.Options{Service: "flowrun", Version: version, Flowrun: version, Warn: func(err error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.lastErr = err
	}})
	return t, err
}

// InheritedTrace returns the trace that this process is part of, from TRACEPARENT and TRACESTATE.
// It is empty if there is none or if it is invalid.
func InheritedTrace() history.TraceContext {
	c := history.TraceContext{Parent: os.Getenv("TRACEPARENT"), State: os.Getenv("TRACESTATE")}
	if _, ok := telemetry.Parse(c.Parent, c.State); !ok {
		return history.TraceContext{}
	}
	return c
}

// AddTo makes the engine with this configuration trace its runs.
func (t *Traces) AddTo(c *engine.Config) {
	if t != nil {
		c.Observers = append(c.Observers, t.tracer.Observe)
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
	t, err := newTraces()
	if err != nil {
		log.Warn("traces are not sent", "error", err.Error())
	}
	return t
}
