// Package telemetry sends a trace of each run of an Engine to an OpenTelemetry collector:
//
//	tracer, err := telemetry.New(telemetry.Options{Service: "orders", Warn: report})
//	if err != nil {
//		report(err) // the tracer works, but sends nothing
//	}
//	defer tracer.Close(ctx)
//	engine := flowrun.New(flowrun.Config{
//		Observers: []flowrun.Observer{tracer.Observe}, // all runs of the engine
//		Trace:     tracer.Trace,                       // TRACEPARENT of their steps
//	})
//
// Where spans are sent is set with the standard variables, such as
// OTEL_EXPORTER_OTLP_ENDPOINT. Without them nothing is sent. docs/reference/telemetry.md lists the
// variables, the spans and their attributes.
//
// A run that is started with flowrun.WithTrace is part of that trace. A program that uses the
// OpenTelemetry SDK passes the traceparent of its current span there. A resumed run stays in
// its trace, whichever process resumes it.
//
// Only programs that import this package contain the messages of OTLP.
package telemetry

import (
	"cmp"
	"context"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/observe/telemetry"
	"github.com/flowrun/flowrun/internal/os/buildinfo"
)

// Options configures a Tracer. The zero Options are valid.
type Options struct {
	// Service is the name of the program in traces (service.name). OTEL_SERVICE_NAME
	// overrides it. "" is flowrun.
	Service string
	// Version is the version of the program (service.version). "" is the version of flowrun.
	Version string
	// Warn is called once, from any goroutine, when spans are lost for the first time. If it
	// is nil, losses are not reported.
	Warn func(error)
}

// Tracer traces runs. One Tracer serves any number of engines. Safe for concurrent use.
type Tracer struct{ tracer *telemetry.Tracer }

// New creates a Tracer from the variables of OpenTelemetry. It always returns a Tracer: if no
// collector is set, or if a variable has a value that is not supported, which is the error,
// the Tracer sends nothing. The error contains no header and no password. Call Close at the
// end of the program.
func New(o Options) (*Tracer, error) {
	settings, err := telemetry.Read()
	version := cmp.Or(buildinfo.Module(), "development")
	return &Tracer{telemetry.New(settings, telemetry.Options{Service: cmp.Or(o.Service, "flowrun"), Version: cmp.Or(o.Version, version),
		Flowrun: version, Warn: o.Warn})}, err
}

// Observe is a flowrun.Observer: among Config.Observers of an Engine it traces all runs of the
// Engine.
func (t *Tracer) Observe(run history.ObservedRun) (sink dag.Sink, done func()) {
	return t.tracer.Observe(run)
}

// Trace is a function for Config.Trace: steps find the span of their attempt in TRACEPARENT,
// so that programs which they run can add spans to the trace.
func (t *Tracer) Trace(run string, step dag.ID, attempt int) (parent, state string) {
	return t.tracer.Trace(run, step, attempt)
}

// Close sends the remaining spans, until ctx ends. Runs never wait for the collector, so the
// spans of about the last second are lost without Close. Call it once, when no run is active.
func (t *Tracer) Close(ctx context.Context) { t.tracer.Close(ctx) }
