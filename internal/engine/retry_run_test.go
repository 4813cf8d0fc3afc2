package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
)

// ending ends every step with a result.
func ending(r dag.Result) engine.RunOption {
	return engine.WithAround(func(context.Context, *dag.Call, dag.Runner) (dag.Result, error) { return r, nil })
}

// exitCode is the result of a command that failed.
var exitCode = dag.Result{Status: dag.Failed, ExitCode: 3, Reason: dag.ReasonExit}

// TestRetryRunDecision holds which runs are retried automatically, and when.
func TestRetryRunDecision(t *testing.T) {
	after := func(reason string) dag.Result { return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: reason} }
	permanent := exitCode
	permanent.Permanent, permanent.Problem = true, &dag.Problem{Code: "x", Category: "business"}
	for _, c := range []struct {
		what, on string
		end      dag.Result
		options  []engine.RunOption
		want     bool
		notice   string
	}{
		{what: "a reason that it names", on: "exit", end: exitCode, want: true},
		{what: "one of several", on: "timeout, exit", end: exitCode, want: true},
		{what: "a reason that it does not name", on: "timeout", end: exitCode},
		{what: "any failure", on: "failed", end: after("http-request"), want: true},
		{what: "a failure in time", on: "timed-out", end: exitCode},
		{what: "a step that timed out", on: "timeout", end: dag.Result{Status: dag.TimedOut, ExitCode: 124, Reason: dag.ReasonTimeout}, want: true},
		{what: "a run that did not time out, although a step did", on: "timed-out", end: dag.Result{Status: dag.TimedOut, ExitCode: 124, Reason: dag.ReasonTimeout}},
		{what: "success", on: "failed, exit", end: dag.Result{Status: dag.Succeeded}},
		{what: "rejected values", on: "failed", end: after(dag.ReasonInput)},
		{what: "an answer of a person", on: "failed", end: after("rejected")},
		{what: "a step that must not run twice", on: "failed", end: after(dag.ReasonInterrupted)},
		{what: "a failure that no retry can help", on: "failed", end: permanent},
		{what: "a call of a model", on: "exit", end: exitCode, options: []engine.RunOption{engine.WithOrigin(engine.OriginMCP)}},
		{what: "a run of a service", on: "exit", end: exitCode, options: []engine.RunOption{engine.WithOrigin("schedule:x")}, want: true},
		{what: "a caller that wants one run", on: "exit", end: exitCode, options: []engine.RunOption{engine.WithoutRetryRun()}},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := newBed(t)
			b.config.Store = history.NewMemory()
			text := fmt.Sprintf("retry-run: {attempts: 2, delay: 90s, on: [%s]}\nsteps:\n  - {name: a, bash: x}\n", c.on)
			res := b.run(t.Context(), text, nil, append(c.options, ending(c.end))...)
			info, err := b.config.Store.Info(t.Context(), res.ID)
			if err != nil {
				t.Fatal(err)
			}
			if !info.RetryAt.Equal(res.RetryAt) || res.RetryAt.IsZero() == c.want || len(res.Notices) > 0 {
				t.Fatalf("the %s run (%s) is retried at %v, according to the store at %v: %v", res.Status, res.Reason, res.RetryAt, info.RetryAt, res.Notices)
			}
			if wait := res.RetryAt.Sub(res.Ended); c.want && wait != 90*time.Second {
				t.Errorf("it is retried after %v", wait)
			}
		})
	}
}

// TestNotRetried holds that a notice says why a run is not retried although its tool says so.
func TestNotRetried(t *testing.T) {
	const text = "retry-run: {attempts: 2, on: [exit]}\nparameters: {TOKEN: {type: string}}\nenvironment: {secrets: [TOKEN]}\nsteps:\n  - {name: a, bash: x}\n"
	for want, of := range map[string]struct {
		store history.Store
		given map[string]any
	}{
		"it is not recorded": {nil, nil},
		"its parameter TOKEN is secret and was not stored": {history.NewMemory(), map[string]any{"TOKEN": "hunter2hunter2"}},
	} {
		b := newBed(t)
		b.config.Store = of.store
		given := of.given
		if given == nil {
			given = map[string]any{"TOKEN": "hunter2hunter2"}
		}
		res := b.run(t.Context(), text, given, ending(exitCode))
		if !res.RetryAt.IsZero() || len(res.Notices) != 1 || res.Notices[0].Code != notice.NotRetried || !strings.Contains(res.Notices[0].Message, want) {
			t.Errorf("%s: %v, %v", want, res.RetryAt, res.Notices)
		}
	}
}

// TestNextAttempt follows a run through its attempts: their numbers, what they keep of the first run, and which steps run.
func TestNextAttempt(t *testing.T) {
	for reuse, want := range map[bool][]string{true: {"a b", "b", "b"}, false: {"a b", "a b", "a b"}} {
		t.Run(fmt.Sprintf("reuse %v", reuse), func(t *testing.T) {
			b := newBed(t)
			b.config.Store = history.NewMemory()
			var ran []string
			do := engine.WithAround(func(_ context.Context, c *dag.Call, _ dag.Runner) (dag.Result, error) {
				ran = append(ran, string(c.Path))
				if c.Path == "b" {
					return exitCode, nil
				}
				return dag.Result{Status: dag.Succeeded}, nil
			})
			text := fmt.Sprintf("labels: {team: ops}\nretry-run: {attempts: 2, delay: 10s, on: [exit], reuse: %v}\nsteps:\n  - {name: a, bash: x}\n  - {name: b, bash: x}\n", reuse)
			res := b.run(t.Context(), text, nil, do, engine.WithOrigin("schedule:nightly"), engine.WithLabels(map[string]string{"key": "of the caller"}))
			got := []string{strings.Join(ran, " ")}
			var waits []time.Duration
			for attempt := 2; !res.RetryAt.IsZero(); attempt++ {
				waits = append(waits, res.RetryAt.Sub(res.Ended).Round(time.Second))
				past := b.load(res.ID)
				g, err := past.NextAttempt(b.lib)
				if err != nil {
					t.Fatal(err)
				}
				ran = nil
				next, err := engine.New(b.config).Continue(t.Context(), g, do)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, strings.Join(ran, " "))
				r := b.load(next.ID).Record
				if next.RetryOf != res.ID || next.Attempt != attempt || r.Attempt != attempt || !r.Automatic || r.Origin != "schedule:nightly" ||
					!cmp.Equal(r.Labels, map[string]string{"team": "ops", "key": "of the caller"}) {
					t.Errorf("attempt %d: %+v", attempt, r)
				}
				if again, err := past.NextAttempt(b.lib); err != nil {
					t.Error(err)
				} else if _, err = engine.New(b.config).Continue(t.Context(), again, do); !errors.Is(err, history.ErrRetried) {
					t.Errorf("a second attempt %d: %v", attempt, err)
				}
				if _, err := b.load(res.ID).NextAttempt(b.lib); !errors.Is(err, history.ErrRetried) {
					t.Errorf("an attempt of a run that was retried: %v", err)
				}
				res = next
			}
			if !slices.Equal(got, want) || !slices.Equal(waits, []time.Duration{10 * time.Second, 20 * time.Second}) {
				t.Errorf("these steps ran: %q, want %q; after %v", got, want, waits)
			}
			// A person may retry it further, which does not start another series.
			g, err := b.load(res.ID).Retry(b.lib, engine.RetryOptions{})
			if err != nil {
				t.Fatal(err)
			}
			res, err = engine.New(b.config).Continue(t.Context(), g, do)
			if r := b.load(res.ID).Record; err != nil || !res.RetryAt.IsZero() || r.Attempt != 4 || r.Automatic || r.Origin != "" {
				t.Errorf("%v, %v, %+v", err, res.RetryAt, r)
			}
		})
	}
}

// TestRetryOfStateConflict holds that a run is retried whose end could not be kept, which only the store finds out.
func TestRetryOfStateConflict(t *testing.T) {
	b := newBed(t)
	b.config.Store = history.NewMemory()
	const text = "retry-run: {attempts: 1, on: [state-conflict], reuse: false}\nstate: {N: {type: number, default: 0}}\nsteps:\n  - {name: a, bash: 'echo N=1 >> $FLOWRUN_STATE'}\n"
	plan := b.compile(text)
	change := engine.WithSink(dag.SinkFunc(func(e dag.Event) {
		if e.Kind == dag.StepFinished {
			id := plan.StateID()
			if err := b.config.Store.SetState(context.Background(), []dag.StateChange{{Tool: id.Tool, File: id.File, Key: "N", Value: []byte("7")}}); err != nil {
				t.Error(err)
			}
		}
	}))
	res, err := engine.New(b.config).Run(t.Context(), plan, nil, engine.WithRunEnv(b.world), change)
	if err != nil || res.Reason != "state-conflict" || res.RetryAt.IsZero() {
		t.Errorf("%v, %+v", err, res)
	}
}

// load reads a recorded run.
func (b *bed) load(id string) *engine.RecordedRun {
	b.Helper()
	past, err := engine.LoadRun(b.Context(), b.config.Store, b.lib, id)
	if err != nil {
		b.Fatal(err)
	}
	return past
}
