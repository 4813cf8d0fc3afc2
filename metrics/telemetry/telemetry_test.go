package telemetry_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/collectortest"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/metrics/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// set sets these variables of OpenTelemetry, and clears all others.
func set(t *testing.T, variables map[string]string) {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for name, value := range variables {
		t.Setenv(name, value)
	}
}

// compile returns a plan with one step, which passes its trace context to seen.
func compile(t *testing.T, name string, tracer *telemetry.Tracer, seen func(traceparent string)) *flowrun.Plan {
	plan, err := flowrun.CompileDefinition(library.New(library.Config{}), &tool.Definition{Name: name, Steps: []*tool.Step{
		flowrun.GoStep("step", func(_ context.Context, in *flowrun.StepInput) (any, error) {
			parent, _ := tracer.Trace(in.Run, dag.ID(in.Path), in.Attempt)
			seen(parent)
			return nil, nil
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestAllRunsOfAnEngine checks that a Tracer which is attached once traces every run of the
// engine, and that steps find their spans.
func TestAllRunsOfAnEngine(t *testing.T) {
	c := collectortest.New()
	defer c.Close()
	set(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL})
	tracer, err := telemetry.New(telemetry.Options{Service: "orders", Version: "7.0", Warn: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	engine := flowrun.New(flowrun.Config{Observers: []flowrun.Observer{tracer.Observe}, Trace: tracer.Trace})
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	var mu sync.Mutex
	seen := map[string]bool{}
	var runs sync.WaitGroup
	for _, name := range []string{"bill", "ship"} {
		plan := compile(t, name, tracer, func(traceparent string) {
			mu.Lock()
			defer mu.Unlock()
			seen[traceparent] = true
		})
		runs.Go(func() {
			if _, err := engine.Run(t.Context(), plan, nil, flowrun.WithTrace(history.TraceContext{Parent: parent})); err != nil {
				t.Error(err)
			}
		})
	}
	runs.Wait()
	tracer.Close(t.Context())
	var names []string
	for _, s := range c.Spans() {
		names = append(names, s.Name)
		if s.Name != "step" {
			continue
		}
		if own := fmt.Sprintf("00-%x-%x-01", s.TraceId, s.SpanId); !seen[own] || !strings.Contains(own, "0af7651916cd43dd8448eb211c80319c") {
			t.Errorf("the span of a step is %s, and the steps see %v", own, seen)
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "bill ship step step" {
		t.Errorf("the spans are %s", got)
	}
	resource, _ := c.Last()
	for key, want := range map[string]string{"service.name": "orders", "service.version": "7.0", "telemetry.sdk.name": "flowrun"} {
		if got := collectortest.ResourceAttribute(resource, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// TestNothingToSendTo checks that a Tracer without a collector passes the trace of the caller
// to the steps, also if a variable is wrong.
func TestNothingToSendTo(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for name, variables := range map[string]map[string]string{
		"":                            nil,
		"OTEL_EXPORTER_OTLP_PROTOCOL": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
	} {
		set(t, variables)
		tracer, err := telemetry.New(telemetry.Options{})
		if (err != nil) != (name != "") || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%q: the error is %v", name, err)
		}
		seen := ""
		plan := compile(t, "job", tracer, func(traceparent string) { seen = traceparent })
		engine := flowrun.New(flowrun.Config{Observers: []flowrun.Observer{tracer.Observe}, Trace: tracer.Trace})
		if _, err := engine.Run(t.Context(), plan, nil, flowrun.WithTrace(history.TraceContext{Parent: parent})); err != nil {
			t.Fatal(err)
		}
		tracer.Close(t.Context())
		if seen != parent {
			t.Errorf("%q: the step sees %q", name, seen)
		}
	}
}

// A program traces all runs of its engine.
func ExampleTracer() {
	tracer, err := telemetry.New(telemetry.Options{Service: "orders", Warn: func(err error) { log.Print(err) }})
	if err != nil {
		log.Print(err) // a variable is not supported; runs work, but no spans are sent
	}
	defer tracer.Close(context.Background())
	engine := flowrun.New(flowrun.Config{
		Observers: []flowrun.Observer{tracer.Observe},
		Trace:     tracer.Trace,
	})
	plan, err := flowrun.CompileDefinition(library.New(library.Config{}), &tool.Definition{Name: "greet", Steps: []*tool.Step{
		flowrun.GoStep("hello", func(context.Context, *flowrun.StepInput) (any, error) { return "hello", nil }),
	}})
	if err != nil {
		log.Fatal(err)
	}
	res, err := engine.Run(context.Background(), plan, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Output)
	// Output: hello
}
