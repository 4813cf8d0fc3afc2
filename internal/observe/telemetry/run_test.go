package telemetry_test

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/observe/telemetry"
	"github.com/flowrun/flowrun/internal/test/collectortest"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a collector, and what is run for it.
type bench struct {
	*testing.T
	*collectortest.Collector
	dir   string
	store *history.Memory
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, Collector: collectortest.New(), dir: t.TempDir(), store: history.NewMemory()}
	t.Cleanup(b.Close)
	set(t, "EXPORTER_OTLP_ENDPOINT="+b.URL)
	return b
}

// tracer returns a Tracer with the settings of the environment.
func (b *bench) tracer() (*telemetry.Tracer, func()) {
	b.Helper()
	s, err := telemetry.Read()
	if err != nil {
		b.Fatal(err)
	}
	tr := telemetry.New(s, telemetry.Options{Service: "flowrun", Version: "1.2.3", Flowrun: "1.2.3", Warn: func(err error) { b.Error(err) }})
	return tr, func() {
		ctx, stop := context.WithTimeout(context.Background(), waittest.Limit)
		defer stop()
		tr.Close(ctx)
	}
}

func (b *bench) config(tr *telemetry.Tracer) engine.Config {
	return engine.Config{Store: b.store, StateDir: b.dir, Observers: []engine.Observer{tr.Observe}, Trace: tr.Trace}
}

// file writes a definition.
func (b *bench) file(name, text string) string {
	b.Helper()
	file := filepath.Join(b.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}

// run runs a definition to its end.
func (b *bench) run(in history.TraceContext, text string, options ...engine.RunOption) *runresult.Result {
	b.Helper()
	if runtime.GOOS == "windows" {
		b.Skip("the steps are for a Unix shell")
	}
	plan, err := engine.Compile(library.New(library.Config{}), b.file("job.yaml", text))
	if err != nil {
		b.Fatal(err)
	}
	tr, end := b.tracer()
	defer end()
	res, err := engine.New(b.config(tr)).Run(b.Context(), plan, nil,
		append(options, engine.WithTrace(in))...)
	if err != nil {
		b.Fatal(err)
	}
	return res
}

// resume resumes a run, as another process would.
func (b *bench) resume(id string) *runresult.Result {
	b.Helper()
	past, err := engine.LoadRun(b.Context(), b.store, library.New(library.Config{}), id)
	if err != nil {
		b.Fatal(err)
	}
	g, err := past.Resume(library.New(library.Config{}), engine.ResumeOptions{RerunInterrupted: true})
	if err != nil {
		b.Fatal(err)
	}
	tr, end := b.tracer()
	defer end()
	res, err := engine.New(b.config(tr)).Continue(b.Context(), g)
	if err != nil {
		b.Fatal(err)
	}
	return res
}

func (b *bench) want(tree string, outside ...string) {
	b.Helper()
	if diff := cmp.Diff(strings.TrimLeft(tree, "\n"), b.Tree(outside...)); diff != "" {
		b.Errorf("(-want +got):\n%s", diff)
	}
}

// oneTrace checks that all spans belong to one trace and have different ids.
func (b *bench) oneTrace() {
	b.Helper()
	seen := map[string]bool{}
	spans := b.Spans()
	for _, s := range spans {
		if string(s.TraceId) != string(spans[0].TraceId) {
			b.Errorf("%s is of another trace", s.Name)
		}
		if seen[string(s.SpanId)] {
			b.Errorf("%s has the id of another span", s.Name)
		}
		seen[string(s.SpanId)] = true
		if s.EndTimeUnixNano < s.StartTimeUnixNano || s.StartTimeUnixNano == 0 {
			b.Errorf("%s goes from %d to %d", s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano)
		}
	}
}

func TestTree(t *testing.T) {
	b := newBench(t)
	b.file("inner.yaml", `
name: inner
description: x
steps:
  - name: clone
    bash: echo $TRACEPARENT
  - name: none
    bash: echo
    run-condition: "false"
`)
	b.run(history.TraceContext{}, `
name: job
description: x
steps:
  - name: first
    bash: echo $TRACEPARENT
  - name: flaky
    bash: test $FLOWRUN_ATTEMPT = 3
    error-handling: {retry: {attempts: 3, delay: 1}}
  - name: rescued
    bash: exit 3
    error-handling: {retry: {attempts: 1, delay: 1}, fallback: echo}
  - name: simple
    bash: exit 3
    error-handling: {fallback: echo}
  - name: setup
    use-tool: ./inner.yaml
  - name: test
    for-each: {items: [x, y], max-parallel: 1}
    steps:
      - name: build
        bash: echo
  - name: grid
    matrix: {os: [linux], arch: [arm, x86]}
    bash: echo
  - name: tolerated
    bash: exit 5
    continue-on-error: true
  - name: slow
    bash: sleep 600
    timeout: 1
  - name: after
    bash: echo
`)
	b.oneTrace()
	b.want(`
job failed
  first succeeded
  flaky succeeded
    flaky (attempt 1) failed
    flaky (attempt 2) failed
    flaky (attempt 3) succeeded
  rescued succeeded
    rescued (attempt 1) failed
    rescued (attempt 2) failed
    rescued (fallback) succeeded
  simple succeeded
    simple (attempt 1) failed
    simple (fallback) succeeded
  setup succeeded
    clone succeeded
    none skipped
  test succeeded
    test[] 0 succeeded
      build succeeded
    test[] 1 succeeded
      build succeeded
  grid succeeded
    grid[] linux-arm succeeded
    grid[] linux-x86 succeeded
  tolerated failed
  slow timed-out
  after skipped
`)
}

// TestNestedTries checks that the steps of an attempt of a nested tool are in the span of
// that attempt.
func TestNestedTries(t *testing.T) {
	b := newBench(t)
	b.file("inner.yaml", `
name: inner
description: x
steps:
  - name: once
    bash: test -e `+b.dir+`/mark || { touch `+b.dir+`/mark; exit 9; }
`)
	b.run(history.TraceContext{}, `
name: job
description: x
steps:
  - name: setup
    use-tool: ./inner.yaml
    error-handling: {retry: {attempts: 1, delay: 1}}
`)
	b.oneTrace()
	b.want(`
job succeeded
  setup succeeded
    setup (attempt 1) failed
      once failed
    setup (attempt 2) succeeded
      once succeeded
`)
	if got := collectortest.Attribute(b.Find(t, "setup (attempt 1)"), "error.type"); got != "exit" {
		t.Errorf("error.type is %q", got)
	}
}

// TestAttributes checks the attributes of spans, and that they contain no output and no
// parameters.
func TestAttributes(t *testing.T) {
	b := newBench(t)
	t.Setenv("OTEL_SERVICE_NAME", "nightly")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,team=a%2Cb")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "X-Token=to%20ken")
	t.Setenv("SECRETVARIABLE", "very-secret-value")
	res := b.run(history.TraceContext{}, `
name: job
description: x
environment:
  secrets: [SECRETVARIABLE]
parameters:
  P: {type: string, default: parameter-value, description: x}
steps:
  - name: bad
    bash: echo output-{P}; echo to-stderr >&2; echo $SECRETVARIABLE; exit 4
  - name: number
    bash: echo no-number-at-all
  - name: judged
    bash: echo
    run-condition: "{number.output} > 3"
`)
	bad := b.Find(t, "bad")
	for key, want := range map[string]string{"flowrun.run.id": res.ID, "flowrun.tool": "job", "flowrun.step": "bad", "flowrun.attempt": "1",
		"flowrun.status": "failed", "flowrun.reason": "exit", "process.exit.code": "4", "error.type": "exit"} {
		if got := collectortest.Attribute(bad, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if user, system := collectortest.Attribute(bad, "flowrun.cpu.user"), collectortest.Attribute(bad, "flowrun.cpu.system"); user == "" || system == "" {
		t.Errorf("CPU time %q and %q", user, system)
	}
	if bad.Status.GetMessage() != "failed: exit code 4" || bad.Status.GetCode().String() != "STATUS_CODE_ERROR" {
		t.Errorf("the status is %v", bad.Status)
	}
	resource, headers := b.Last()
	for key, want := range map[string]string{"service.name": "nightly", "service.version": "1.2.3", "team": "a,b"} {
		if got := collectortest.ResourceAttribute(resource, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if headers.Get("X-Token") != "to ken" || headers.Get("User-Agent") != "flowrun/1.2.3" {
		t.Errorf("the headers are %v", headers)
	}
	for _, text := range []string{"output-", "parameter-value", "to-stderr", "very-secret-value", "no-number-at-all", "SECRETVARIABLE", b.dir} {
		if b.Holds(text) {
			t.Errorf("%q is in what was sent", text)
		}
	}
}

const (
	outerTrace = "0af7651916cd43dd8448eb211c80319c"
	outerSpan  = "b7ad6b7169203331"
)

// seen returns the contexts that steps printed.
func (b *bench) seen(name string) string {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// TestContextOfSteps checks that a step gets the context of its own span in every attempt,
// below the span that the run was started with.
func TestContextOfSteps(t *testing.T) {
	b := newBench(t)
	b.file("inner.yaml", `
name: inner
description: x
steps:
  - name: nested
    bash: echo $TRACEPARENT $TRACESTATE >`+b.dir+`/nested
`)
	b.run(history.TraceContext{Parent: "00-" + outerTrace + "-" + outerSpan + "-01", State: "vendor=1"}, `
name: job
description: x
steps:
  - name: plain
    bash: echo $TRACEPARENT $TRACESTATE >`+b.dir+`/plain
  - name: bare
    environment: {inherit: false}
    bash: echo $TRACEPARENT $TRACESTATE >`+b.dir+`/bare
  - name: tried
    bash: echo $TRACEPARENT $TRACESTATE >`+b.dir+`/try$FLOWRUN_ATTEMPT; exit 1
    error-handling: {retry: {attempts: 1, delay: 1}, fallback: "echo $TRACEPARENT $TRACESTATE >`+b.dir+`/fallback"}
  - name: setup
    use-tool: ./inner.yaml
  - name: own
    environment: {TRACEPARENT: mine}
    bash: echo $TRACEPARENT $TRACESTATE >`+b.dir+`/own
`)
	b.oneTrace()
	for file, span := range map[string]string{"plain": "plain", "bare": "bare", "try1": "tried (attempt 1)", "try2": "tried (attempt 2)", "fallback": "tried (fallback)", "nested": "nested"} {
		s := b.Find(t, span)
		want := "00-" + outerTrace + "-" + hex.EncodeToString(s.SpanId) + "-01 vendor=1"
		if got := b.seen(file); got != want {
			t.Errorf("%s sees %q, want %q", file, got, want)
		}
		if s.TraceState != "vendor=1" {
			t.Errorf("the state of %s is %q", span, s.TraceState)
		}
	}
	if got := b.seen("own"); got != "mine vendor=1" {
		t.Errorf("own sees %q", got)
	}
	if root := b.Find(t, "job"); hex.EncodeToString(root.ParentSpanId) != outerSpan || root.Flags != 0x301 {
		t.Errorf("the parent of the run is %x, its flags %x", root.ParentSpanId, root.Flags)
	}
}

// TestNotSampled checks that a run in a trace that is not sampled is not sent; its steps
// get the context that the run was started with. The same holds if nothing is ever sent.
func TestNotSampled(t *testing.T) {
	for name, c := range map[string]struct{ endpoint, flags string }{"not sampled": {"on", "00"}, "off": {"", "01"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if c.endpoint == "" {
				set(t)
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
			}
			parent := "00-" + outerTrace + "-" + outerSpan + "-" + c.flags
			b.run(history.TraceContext{Parent: parent}, `
name: job
description: x
bash: echo $TRACEPARENT >`+b.dir+`/seen
`)
			if got := b.seen("seen"); got != parent {
				t.Errorf("the step sees %q, want %q", got, parent)
			}
			if n := len(b.Spans()); n > 0 {
				t.Errorf("%d spans were sent", n)
			}
		})
	}
}

// TestCancelled checks that cancelled steps are sent with their reason, and are not errors.
func TestCancelled(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	def := &tool.Definition{Name: "job", Steps: []*tool.Step{
		gostep.GoStep("waits", func(ctx context.Context, _ *gostep.StepInput) (any, error) {
			cancel(errors.New("enough"))
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		gostep.GoStep("never", func(context.Context, *gostep.StepInput) (any, error) { return nil, nil }),
	}}
	plan, err := engine.CompileDefinition(library.New(library.Config{}), def)
	if err != nil {
		t.Fatal(err)
	}
	tr, end := b.tracer()
	if _, err := engine.New(b.config(tr)).Run(ctx, plan, nil); err != nil {
		t.Fatal(err)
	}
	end()
	b.want(`
job cancelled
  waits cancelled
  never cancelled
`)
	root := b.Find(t, "job")
	if root.Status != nil || len(root.Events) != 1 || root.Events[0].Name != "cancelling" {
		t.Errorf("the run's status is %v, its events %v", root.Status, root.Events)
	}
}

// TestResumeOfAnEndedRun checks that what follows is below the span of the run, in the same
// trace.
func TestResumeOfAnEndedRun(t *testing.T) {
	b := newBench(t)
	b.file("inner.yaml", `
name: inner
description: x
steps:
  - name: good
    bash: echo
  - name: bad
    bash: echo $TRACEPARENT >`+b.dir+`/seen; test -e `+b.dir+`/mark
`)
	res := b.run(history.TraceContext{Parent: "00-" + outerTrace + "-" + outerSpan + "-01"}, `
name: job
description: x
steps:
  - name: setup
    use-tool: ./inner.yaml
  - name: after
    bash: echo
`)
	b.file("mark", "")
	b.resume(res.ID)
	b.oneTrace()
	b.want(`
job failed
  setup failed
    good succeeded
    bad failed
  after skipped
  job succeeded
    setup succeeded
      bad succeeded
    after succeeded
`, outerSpan)
	seen := b.seen("seen")
	for _, s := range b.Spans() {
		if s.Name == "bad" && s.Status == nil && seen != "00-"+outerTrace+"-"+hex.EncodeToString(s.SpanId)+"-01" {
			t.Errorf("the second bad sees %q, its span is %x", seen, s.SpanId)
		}
	}
}

// events returns the events of a run, numbered and timed.
func events(list ...dag.Event) []dag.Event {
	at := time.Now().Add(-time.Minute)
	for i := range list {
		list[i].Run, list[i].Seq, list[i].Time = "run", uint64(i+1), at.Add(time.Duration(i)*time.Second)
	}
	return list
}

func done(path dag.ID, attempt int, s dag.Status) dag.Event {
	return dag.Event{Kind: dag.StepFinished, Node: path, Attempt: attempt, Result: &dag.Result{Status: s, Attempts: attempt}}
}

func begun(path dag.ID, attempt int) dag.Event {
	return dag.Event{Kind: dag.StepStarted, Node: path, Attempt: attempt}
}

// TestKilled checks that a run whose process is killed twice gives one trace, whatever was
// running. Each process has its own Tracer, which never sees an end.
func TestKilled(t *testing.T) {
	b := newBench(t)
	all := events(
		dag.Event{Kind: dag.RunStarted},
		begun("first", 1), done("first", 1, dag.Succeeded),
		begun("setup", 1), begun("setup/clone", 1), done("setup/clone", 1, dag.Succeeded),
		begun("setup/build", 1),
		begun("flaky", 1), dag.Event{Kind: dag.StepRetrying, Node: "flaky", Attempt: 1, Result: &dag.Result{Status: dag.Failed}},
		// here flowrun is killed
		dag.Event{Kind: dag.RunResumed, Reset: []dag.ID{"setup/build"}},
		begun("setup/build", 1),
		// and here
		dag.Event{Kind: dag.RunResumed, Reset: []dag.ID{"setup/build"}},
		begun("setup/build", 1), done("setup/build", 1, dag.Succeeded), done("setup", 1, dag.Succeeded),
		begun("flaky", 2), done("flaky", 2, dag.Succeeded),
		dag.Event{Kind: dag.RunFinished, Result: &dag.Result{Status: dag.Succeeded}},
	)
	for _, life := range [][2]int{{0, 9}, {9, 11}, {11, len(all)}} {
		tr, end := b.tracer()
		sink, _ := tr.Observe(history.ObservedRun{ID: "run", Tool: "job", Recorded: all[:life[0]]})
		for _, e := range all[life[0]:life[1]] {
			sink.Emit(e)
		}
		end()
	}
	b.oneTrace()
	b.want(`
job succeeded
  first succeeded
  setup succeeded
    clone succeeded
    build interrupted
    build interrupted
    build succeeded
  flaky succeeded
    flaky (attempt 1) failed
    flaky (attempt 2) succeeded
`)
	if root := b.Find(t, "job"); len(root.Events) != 2 || root.StartTimeUnixNano != uint64(all[0].Time.UnixNano()) {
		t.Errorf("the run begins at %d, its events are %v", root.StartTimeUnixNano, root.Events)
	}
}

// TestRests checks that a step which waits for a person while no process owns the run is
// one span, from its start to the answer.
func TestRests(t *testing.T) {
	b := newBench(t)
	all := events(
		dag.Event{Kind: dag.RunStarted},
		begun("gate", 1), dag.Event{Kind: dag.StepWaiting, Node: "gate", Attempt: 1},
		dag.Event{Kind: dag.RunResumed},
		done("gate", 1, dag.Succeeded),
		dag.Event{Kind: dag.RunFinished, Result: &dag.Result{Status: dag.Succeeded}},
	)
	for _, life := range [][2]int{{0, 3}, {3, len(all)}} {
		tr, end := b.tracer()
		sink, _ := tr.Observe(history.ObservedRun{ID: "run", Tool: "job", Recorded: all[:life[0]]})
		for _, e := range all[life[0]:life[1]] {
			sink.Emit(e)
		}
		end()
	}
	b.oneTrace()
	b.want(`
job succeeded
  gate succeeded
`)
	gate := b.Find(t, "gate")
	if len(gate.Events) != 1 || gate.Events[0].Name != "waiting" || gate.EndTimeUnixNano-gate.StartTimeUnixNano != uint64(3*time.Second) {
		t.Errorf("gate takes from %d to %d, its events are %v", gate.StartTimeUnixNano, gate.EndTimeUnixNano, gate.Events)
	}
}

// TestLinks checks that a retry of a run is linked to that run, and a resumed run to the
// program that resumes it.
func TestLinks(t *testing.T) {
	b := newBench(t)
	parent := "00-" + outerTrace + "-" + outerSpan + "-01"
	b.run(history.TraceContext{}, `
name: job
description: x
bash: exit 1
`, engine.WithID("old"))
	past, err := engine.LoadRun(b.Context(), b.store, library.New(library.Config{}), "old")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		is   string
		ways func(*library.Library) (*engine.Continuation, error)
	}{
		{"retry", func(l *library.Library) (*engine.Continuation, error) { return past.Retry(l, engine.RetryOptions{}) }},
		{"resume", func(l *library.Library) (*engine.Continuation, error) {
			return past.Resume(l, engine.ResumeOptions{})
		}},
	} {
		g, err := c.ways(library.New(library.Config{}))
		if err != nil {
			t.Fatal(err)
		}
		tr, end := b.tracer()
		if _, err := engine.New(b.config(tr)).Continue(b.Context(), g, engine.WithTrace(history.TraceContext{Parent: parent})); err != nil {
			t.Fatal(err)
		}
		end()
	}
	links := map[string]int{}
	for _, s := range b.Spans() {
		for _, l := range s.Links {
			links[hex.EncodeToString(l.TraceId)+"-"+hex.EncodeToString(l.SpanId)]++
		}
	}
	want := map[string]int{outerTrace + "-" + outerSpan: 1}
	for _, s := range b.Spans() {
		if len(s.ParentSpanId) == 0 { // of the first run
			want[hex.EncodeToString(s.TraceId)+"-"+hex.EncodeToString(s.SpanId)] = 1
		}
	}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
