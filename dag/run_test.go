package dag_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dag"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Time in these tests is that of a synctest bubble: waits take none, and are exact.

type runner = dag.RunnerFunc

// answers is a runner whose n-th call gives the n-th result; the last one repeats.
func answers(rs ...dag.Result) dag.Runner {
	var n atomic.Int32
	return runner(func(context.Context, *dag.Call) (dag.Result, error) {
		return rs[min(int(n.Add(1)), len(rs))-1], nil
	})
}

var (
	ok   = dag.Result{}
	fail = dag.Result{ExitCode: 1, Reason: dag.ReasonExit}
)

// sleeps takes that long, or until it is stopped; then it answers as a killed
// process would.
func sleeps(d time.Duration) dag.Runner {
	return runner(func(ctx context.Context, _ *dag.Call) (dag.Result, error) {
		select {
		case <-time.After(d):
			return ok, nil
		case <-ctx.Done():
			return dag.Result{ExitCode: 143}, nil
		}
	})
}

var always = &dag.When{Uses: dag.UsesCancel, Eval: func(dag.View) (bool, error) { return true, nil }}

// diary writes down what happened and when, counted from its first event.
type diary struct {
	began time.Time
	lines []string
}

func (d *diary) Emit(e dag.Event) {
	if d.began.IsZero() {
		d.began = e.Time
	}
	text := fmt.Sprintf("%v %s", e.Time.Sub(d.began), e.Kind)
	if e.Node != "" {
		text += " " + string(e.Node)
	}
	if e.Kind == dag.StepStarted && e.Attempt > 1 {
		text += fmt.Sprintf(" try %d", e.Attempt)
	}
	if e.Result != nil {
		text += " " + e.Result.Status.String()
	}
	if e.Reason != "" {
		text += " (" + e.Reason + ")"
	}
	d.lines = append(d.lines, text)
}

func graph(t *testing.T, s dag.Settings, nodes ...dag.Node) *dag.Graph {
	t.Helper()
	g, err := dag.New(nodes, s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// tells runs g in a bubble and compares what happened with the lines of want.
func tells(t *testing.T, ctx context.Context, g *dag.Graph, o dag.Options, want string) *dag.State {
	t.Helper()
	var d diary
	o.Sinks = append(o.Sinks, &d)
	s, err := dag.Run(ctx, g, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Fields(strings.ReplaceAll(want, "\n", " ; ")), strings.Fields("; "+strings.Join(d.lines, " ; ")+" ;")); diff != "" {
		t.Fatalf("events are\n%s\n(-want +got)\n%s", strings.Join(d.lines, "\n"), diff)
	}
	return s
}

func TestBackoff(t *testing.T) {
	for _, c := range []struct {
		name    string
		backoff dag.Backoff
		waits   []time.Duration
	}{
		{"none", dag.Backoff{}, []time.Duration{0, 0, 0, 0}},
		{"exponential", dag.Backoff{Delay: time.Second}, []time.Duration{1e9, 2e9, 4e9, 8e9}},
		{"linear", dag.Backoff{Delay: time.Second, Growth: dag.Linear}, []time.Duration{1e9, 2e9, 3e9, 4e9}},
		{"constant", dag.Backoff{Delay: time.Second, Growth: dag.Constant}, []time.Duration{1e9, 1e9, 1e9, 1e9}},
		{"exponential, bounded", dag.Backoff{Delay: time.Second, Max: 3 * time.Second}, []time.Duration{1e9, 2e9, 3e9, 3e9}},
		{"linear, bounded", dag.Backoff{Delay: time.Second, Growth: dag.Linear, Max: 2500 * time.Millisecond}, []time.Duration{1e9, 2e9, 25e8, 25e8}},
		{"bounded below the delay", dag.Backoff{Delay: time.Second, Growth: dag.Constant, Max: 10}, []time.Duration{10, 10, 10, 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var starts []time.Time
				g := graph(t, dag.Settings{}, dag.Node{ID: "a", Policy: dag.Policy{Attempts: len(c.waits), Backoff: c.backoff},
					Runner: runner(func(context.Context, *dag.Call) (dag.Result, error) {
						starts = append(starts, time.Now())
						return fail, nil
					})})
				s, err := dag.Run(t.Context(), g, nil, dag.Options{})
				if err != nil || s.Result().Status != dag.Failed {
					t.Fatal(s.Result(), err)
				}
				var waits []time.Duration
				for i := range starts[1:] {
					waits = append(waits, starts[i+1].Sub(starts[i]))
				}
				if diff := cmp.Diff(c.waits, waits); diff != "" {
					t.Fatal(diff)
				}
			})
		})
	}
}

// TestJitter: every wait is a part of the wait without jitter, and they differ.
func TestJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits []time.Duration
		g := graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: answers(fail),
			Policy: dag.Policy{Attempts: 50, Backoff: dag.Backoff{Delay: time.Minute, Growth: dag.Constant, Jitter: true}}})
		_, err := dag.Run(t.Context(), g, nil, dag.Options{Sinks: []dag.Sink{dag.SinkFunc(func(e dag.Event) {
			if e.Kind == dag.StepRetrying {
				waits = append(waits, e.Due.Sub(e.Time))
			}
		})}})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(waits)
		if waits[0] < 0 || waits[len(waits)-1] > time.Minute || len(slices.Compact(waits)) < 2 {
			t.Fatalf("waits are %v", waits)
		}
	})
}

func TestTimeoutRetryFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: sleeps(time.Hour), Policy: dag.Policy{
			Timeout: time.Second, Attempts: 1, Backoff: dag.Backoff{Delay: 5 * time.Second}, Fallback: answers(ok)}})
		s := tells(t, t.Context(), g, dag.Options{}, `
			0s run.started
			0s step.started a
			1s step.retrying a timed-out (timeout)
			6s step.started a try 2
			7s step.fallback a timed-out (timeout)
			7s step.finished a succeeded
			7s run.finished succeeded
		`)
		s.All(func(_ dag.ID, _ *dag.Node, _ dag.Status, r *dag.Result) {
			if r.Attempts != 2 || !r.Fallback || r.Ended.Sub(r.Started) != 7*time.Second {
				t.Errorf("result is %+v", r)
			}
		})
	})
}

// TestNestedFallback: the fallback of a nested graph is a leaf: it runs, and waits for a
// slot like any other.
func TestNestedFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := graph(t, dag.Settings{}, dag.Node{ID: "x", Runner: answers(fail)})
		brief := graph(t, dag.Settings{Timeout: 10 * time.Second}, dag.Node{ID: "x", Runner: answers(ok)}) // no limit of the fallback's
		bind := func(context.Context, *dag.Call) (dag.Args, error) { return nil, errors.New("parameter p is missing") }
		g := graph(t, dag.Settings{},
			dag.Node{ID: "n", Graph: inner, Policy: dag.Policy{Attempts: 1, Fallback: sleeps(time.Second)}},
			dag.Node{ID: "long", Runner: sleeps(time.Minute)},
			dag.Node{ID: "refused", Graph: brief, Bind: bind, Policy: dag.Policy{Attempts: 3, Fallback: sleeps(time.Second)}},
		)
		tells(t, t.Context(), g, dag.Options{Slots: dag.NewSlots(1)}, `
			0s run.started
			0s step.started n
			0s step.started long
			0s step.started refused
			0s step.fallback refused failed (input)
			1m0s step.finished long succeeded
			1m1s step.finished refused succeeded
			1m1s step.started n/x
			1m1s step.finished n/x failed (exit)
			1m1s step.retrying n failed (exit)
			1m1s step.started n try 2
			1m1s step.started n#2/x
			1m1s step.finished n#2/x failed (exit)
			1m1s step.fallback n failed (exit)
			1m2s step.finished n succeeded
			1m2s run.finished succeeded
		`)
	})
}

// TestTimeout: the time limit of the graph stops running nodes; always() steps still run,
// at most for Options.Cleanup.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := graph(t, dag.Settings{Timeout: time.Minute},
			dag.Node{ID: "work", Runner: sleeps(time.Hour)},
			dag.Node{ID: "next", Runner: answers(ok), After: []dag.ID{"work"}},
			dag.Node{ID: "tidy", Runner: sleeps(time.Hour), After: []dag.ID{"work"}, When: always},
			dag.Node{ID: "last", Runner: sleeps(time.Second), After: []dag.ID{"tidy"}, When: always},
		)
		s := tells(t, t.Context(), g, dag.Options{Cleanup: 10 * time.Second}, `
			0s run.started
			0s step.started work
			1m0s run.cancelling (timeout)
			1m0s step.finished work cancelled (timeout)
			1m0s step.finished next cancelled (timeout)
			1m0s step.started tidy
			1m10s step.finished tidy timed-out (timeout)
			1m10s step.started last
			1m10s step.finished last timed-out (timeout)
			1m10s run.finished timed-out (timeout)
		`)
		if s.Result().ExitCode != dag.ExitTimeout {
			t.Errorf("exit code is %d", s.Result().ExitCode)
		}
	})
}

// TestCleanupBoundsNested: a cleanup step may be a nested graph with retries; all of it has
// ended when the cleanup time is over.
func TestCleanupBoundsNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := graph(t, dag.Settings{},
			dag.Node{ID: "a", Runner: answers(fail), Policy: dag.Policy{Attempts: 9, Backoff: dag.Backoff{Delay: time.Hour}}},
			dag.Node{ID: "b", Runner: sleeps(time.Hour), After: []dag.ID{"a"}, When: always})
		g := graph(t, dag.Settings{Timeout: time.Minute},
			dag.Node{ID: "work", Runner: sleeps(time.Hour)},
			dag.Node{ID: "tidy", Graph: inner, After: []dag.ID{"work"}, When: always})
		tells(t, t.Context(), g, dag.Options{Cleanup: 10 * time.Second}, `
			0s run.started
			0s step.started work
			1m0s run.cancelling (timeout)
			1m0s step.finished work cancelled (timeout)
			1m0s step.started tidy
			1m0s step.started tidy/a
			1m0s step.retrying tidy/a failed (exit)
			1m10s run.cancelling tidy (timeout)
			1m10s step.finished tidy/a cancelled (timeout)
			1m10s step.started tidy/b
			1m10s step.finished tidy/b timed-out (timeout)
			1m10s step.finished tidy timed-out (timeout)
			1m10s run.finished timed-out (timeout)
		`)
	})
}

// TestNestedTimeout: a nested graph that took too long is timed out and can be retried; one
// that was stopped because the run took too long is cancelled.
func TestNestedTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := graph(t, dag.Settings{Timeout: 10 * time.Second}, dag.Node{ID: "x", Runner: sleeps(time.Hour)})
		g := graph(t, dag.Settings{Timeout: 15 * time.Second},
			dag.Node{ID: "n", Graph: inner, Policy: dag.Policy{Attempts: 5}})
		tells(t, t.Context(), g, dag.Options{}, `
			0s run.started
			0s step.started n
			0s step.started n/x
			10s run.cancelling n (timeout)
			10s step.finished n/x cancelled (timeout)
			10s step.retrying n timed-out (timeout)
			10s step.started n try 2
			10s step.started n#2/x
			15s run.cancelling (timeout)
			15s step.finished n#2/x cancelled (timeout)
			15s step.finished n cancelled (timeout)
			15s run.finished timed-out (timeout)
		`)
	})
}

func TestCancelCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shutdown := errors.New("shutdown")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(shutdown) })
		var cause error
		g := graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: runner(func(ctx context.Context, _ *dag.Call) (dag.Result, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return dag.Result{}, ctx.Err() // a careless runner: not an error of the engine
		})})
		s := tells(t, ctx, g, dag.Options{}, `
			0s run.started
			0s step.started a
			1s run.cancelling (cancelled)
			1s step.finished a cancelled (cancelled)
			1s run.finished cancelled (cancelled)
		`)
		var c *dag.Cancel
		if !errors.As(cause, &c) || c.Reason != dag.ReasonCancelled || !errors.Is(cause, shutdown) {
			t.Errorf("the runner sees %v", cause)
		}
		if s.Result().ExitCode != dag.ExitCancelled {
			t.Errorf("exit code is %d", s.Result().ExitCode)
		}
	})
}

// TestForce: the second stop also ends the cleanup, and whatever waits in it.
func TestForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := graph(t, dag.Settings{},
			dag.Node{ID: "a", Runner: answers(fail), Policy: dag.Policy{Attempts: 9, Backoff: dag.Backoff{Delay: time.Hour}}})
		g := graph(t, dag.Settings{},
			dag.Node{ID: "work", Runner: sleeps(time.Hour)},
			dag.Node{ID: "tidy", Runner: sleeps(time.Hour), After: []dag.ID{"work"}, When: always},
			dag.Node{ID: "nest", Graph: inner, After: []dag.ID{"work"}, When: always},
			dag.Node{ID: "last", Runner: answers(ok), After: []dag.ID{"tidy", "nest"}, When: always})
		ctx, cancel := context.WithCancel(t.Context())
		force := make(chan struct{})
		time.AfterFunc(1*time.Second, cancel)
		time.AfterFunc(3*time.Second, func() { close(force) })
		j := &journal{}
		tells(t, ctx, g, dag.Options{Force: force, Journal: j, Slots: dag.NewSlots(4)}, `
			0s run.started
			0s step.started work
			1s run.cancelling (cancelled)
			1s step.finished work cancelled (cancelled)
			1s step.started tidy
			1s step.started nest
			1s step.started nest/a
			1s step.retrying nest/a failed (exit)
			3s run.cancelling (forced)
			3s step.finished nest/a cancelled (forced)
			3s step.finished nest cancelled (forced)
			3s step.finished tidy cancelled (forced)
			3s step.started last
			3s step.finished last cancelled (forced)
			3s run.finished cancelled (cancelled)
		`)
		if j.events != 15 {
			t.Errorf("%d events were recorded, want 15", j.events)
		}
	})
}

// journal counts events, and fails from the given call on, or when its context has
// ended.
type journal struct {
	failAt, calls, events int
}

func (j *journal) Sync(context.Context) error { return nil }

func (j *journal) Append(ctx context.Context, events []dag.Event) error {
	j.calls++
	if j.calls == j.failAt {
		return errors.New("disk full")
	}
	j.events += len(events)
	return ctx.Err()
}

// TestFailFast: the first failure stops running nodes and starts no others, not even in the
// slot that it returned.
func TestFailFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failsAfter := func(d time.Duration) dag.Runner {
			return runner(func(context.Context, *dag.Call) (dag.Result, error) {
				time.Sleep(d)
				return dag.Result{ExitCode: 7, Reason: dag.ReasonExit}, nil
			})
		}
		g := graph(t, dag.Settings{FailFast: true},
			dag.Node{ID: "mind", Runner: failsAfter(1 * time.Second), Policy: dag.Policy{Tolerate: true}},
			dag.Node{ID: "aside", Runner: failsAfter(2 * time.Second), Cleanup: true},
			dag.Node{ID: "bad", Runner: failsAfter(3 * time.Second)},
			dag.Node{ID: "long", Runner: sleeps(time.Hour)},
			dag.Node{ID: "queued", Runner: answers(ok)},
			dag.Node{ID: "tidy", Runner: sleeps(time.Second), After: []dag.ID{"bad"}, When: always},
		)
		s := tells(t, t.Context(), g, dag.Options{Slots: dag.NewSlots(2)}, `
			0s run.started
			0s step.started mind
			0s step.started aside
			1s step.finished mind failed (exit)
			1s step.started bad
			2s step.finished aside failed (exit)
			2s step.started long
			4s step.finished bad failed (exit)
			4s run.cancelling (fail-fast)
			4s step.finished queued cancelled (fail-fast)
			4s step.started tidy
			4s step.finished long cancelled (fail-fast)
			5s step.finished tidy succeeded
			5s run.finished failed (exit)
		`)
		if s.Result().ExitCode != 7 {
			t.Errorf("exit code is %d", s.Result().ExitCode)
		}
	})
}

// TestBackoffHoldsNoSlot: with one slot, another step runs while one waits for its next
// attempt.
func TestBackoffHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := graph(t, dag.Settings{},
			dag.Node{ID: "a", Runner: answers(fail, ok), Policy: dag.Policy{Attempts: 1, Backoff: dag.Backoff{Delay: time.Minute}}},
			dag.Node{ID: "b", Runner: sleeps(time.Second)})
		tells(t, t.Context(), g, dag.Options{Slots: dag.NewSlots(1)}, `
			0s run.started
			0s step.started a
			0s step.retrying a failed (exit)
			0s step.started b
			1s step.finished b succeeded
			1m0s step.started a try 2
			1m0s step.finished a succeeded
			1m0s run.finished succeeded
		`)
	})
}

// TestCancelDuringBackoff: a step that waits for its next attempt ends immediately, with
// the output of its last attempt.
func TestCancelDuringBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		g := graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: answers(dag.Result{ExitCode: 5, Reason: dag.ReasonExit}),
			Policy: dag.Policy{Attempts: 1, Backoff: dag.Backoff{Delay: time.Hour}, Fallback: answers(ok)}})
		s := tells(t, ctx, g, dag.Options{}, `
			0s run.started
			0s step.started a
			0s step.retrying a failed (exit)
			1s run.cancelling (cancelled)
			1s step.finished a cancelled (cancelled)
			1s run.finished cancelled (cancelled)
		`)
		s.All(func(_ dag.ID, _ *dag.Node, _ dag.Status, r *dag.Result) {
			if r.Attempts != 1 || r.ExitCode != 5 {
				t.Errorf("result is %+v", r)
			}
		})
	})
}

// TestCancelBeforeStart: nothing starts in a run that was cancelled before it started.
func TestCancelBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		g := graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: answers(ok)}, dag.Node{ID: "b", Runner: answers(ok), When: always})
		tells(t, ctx, g, dag.Options{}, `
			0s run.started
			0s run.cancelling (cancelled)
			0s step.finished a cancelled (cancelled)
			0s step.started b
			0s step.finished b succeeded
			0s run.finished cancelled (cancelled)
		`)
	})
}

// TestCancelTooLate: a cancel that stopped nothing changes nothing.
func TestCancelTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		g := graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: runner(func(context.Context, *dag.Call) (dag.Result, error) {
			cancel() // and yet it ends well
			return ok, nil
		})})
		s, err := dag.Run(ctx, g, nil, dag.Options{})
		if err != nil || s.Result().Status != dag.Succeeded || s.Result().ExitCode != 0 {
			t.Fatal(s.Result(), err)
		}
	})
}

func TestConditionError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := &dag.When{Eval: func(dag.View) (bool, error) { return false, errors.New(`cannot compare "x" with 1`) }}
		g := graph(t, dag.Settings{},
			dag.Node{ID: "mind", Runner: answers(ok), When: broken, Policy: dag.Policy{Tolerate: true, Attempts: 2}},
			dag.Node{ID: "a", Runner: answers(ok), When: broken},
			dag.Node{ID: "b", Runner: answers(ok), After: []dag.ID{"a"}})
		s := tells(t, t.Context(), g, dag.Options{}, `
			0s run.started
			0s step.finished mind failed (condition)
			0s step.finished a failed (condition)
			0s step.finished b skipped (upstream-failed)
			0s run.finished failed (condition)
		`)
		if r := s.Result(); r.ExitCode != 1 {
			t.Errorf("exit code is %d", r.ExitCode)
		}
	})
}

// TestGoexit: a runner that ends its goroutine fails its node; the others continue.
func TestGoexit(t *testing.T) {
	exits := dag.RunnerFunc(func(context.Context, *dag.Call) (dag.Result, error) { runtime.Goexit(); panic("not reached") })
	g := graph(t, dag.Settings{},
		dag.Node{ID: "exits", Runner: exits, Policy: dag.Policy{Tolerate: true}},
		dag.Node{ID: "after", After: []dag.ID{"exits"}, Runner: answers(dag.Result{})},
		dag.Node{ID: "binds", Graph: graph(t, dag.Settings{}), Policy: dag.Policy{Tolerate: true},
			Bind: func(context.Context, *dag.Call) (dag.Args, error) { runtime.Goexit(); return nil, nil }})
	st, err := dag.Run(context.Background(), g, nil, dag.Options{Slots: dag.NewSlots(1)})
	if err != nil || st.Result().Status != dag.Succeeded {
		t.Fatalf("%v, %+v", err, st.Result())
	}
	for _, id := range []dag.ID{"exits", "binds"} {
		if got := st.Status(id); got != dag.Failed {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// TestCleanupOutlivesCancel: a cancel does not stop a running node with Cleanup; a forced
// stop does.
func TestCleanupOutlivesCancel(t *testing.T) {
	for _, forced := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			tidied := make(chan error, 1)
			g := graph(t, dag.Settings{},
				dag.Node{ID: "a", Runner: answers(dag.Result{})},
				dag.Node{ID: "tidy", Cleanup: true, After: []dag.ID{"a"}, Runner: dag.RunnerFunc(func(ctx context.Context, _ *dag.Call) (dag.Result, error) {
					select {
					case <-time.After(5 * time.Second):
					case <-ctx.Done():
					}
					tidied <- ctx.Err()
					return dag.Result{}, nil
				})})
			ctx, cancel := context.WithCancel(context.Background())
			force := make(chan struct{})
			time.AfterFunc(time.Second, cancel)
			if forced {
				time.AfterFunc(2*time.Second, func() { close(force) })
			}
			if _, err := dag.Run(ctx, g, nil, dag.Options{Force: force}); err != nil {
				t.Fatal(err)
			}
			if err := <-tidied; (err != nil) != forced {
				t.Errorf("forced %v: cleanup's context: %v", forced, err)
			}
		})
	}
}

// TestCleanup: the failure and the output of a node with Cleanup do not become those of the
// run.
func TestCleanup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := graph(t, dag.Settings{},
			dag.Node{ID: "a", Runner: answers(dag.Result{Stdout: &dag.Output{Raw: "a"}})},
			dag.Node{ID: "tidy", Cleanup: true, After: []dag.ID{"a"}, Runner: answers(dag.Result{ExitCode: 1, Stdout: &dag.Output{Raw: "tidy"}})})
		s, err := dag.Run(t.Context(), g, nil, dag.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := s.Result(); r.Status != dag.Succeeded || r.Stdout.Raw != "a" || s.Status("tidy") != dag.Failed {
			t.Errorf("the run is %+v, tidy is %v", r, s.Status("tidy"))
		}
	})
}

// TestPanic: a panic fails the step, in whichever of its functions it happens.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := runner(func(context.Context, *dag.Call) (dag.Result, error) { panic("boom") })
		inner := graph(t, dag.Settings{}, dag.Node{ID: "x", Runner: answers(ok)})
		g := graph(t, dag.Settings{},
			dag.Node{ID: "a", Runner: boom, Policy: dag.Policy{Fallback: boom}},
			dag.Node{ID: "n", Graph: inner, Bind: func(context.Context, *dag.Call) (dag.Args, error) { panic("boom") }},
			dag.Node{ID: "b", Runner: answers(ok)})
		s := runs(t, g, dag.Options{})
		for id, want := range map[dag.ID]dag.Status{"a": dag.Failed, "n": dag.Failed, "n/x": dag.Pending, "b": dag.Succeeded} {
			if got := s.Status(id); got != want {
				t.Errorf("%s is %v, want %v", id, got, want)
			}
		}
		if r := s.Result(); r.Reason != dag.ReasonPanic || r.ExitCode != 1 {
			t.Errorf("the run is %+v", r)
		}
	})
}

func runs(t *testing.T, g *dag.Graph, o dag.Options) *dag.State {
	t.Helper()
	s, err := dag.Run(t.Context(), g, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAnswers: the results a runner may return, and the statuses they become.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		result dag.Result
		want   dag.Status
	}{
		{dag.Result{}, dag.Succeeded},
		{dag.Result{ExitCode: 2}, dag.Failed},
		{dag.Result{Status: dag.Succeeded, ExitCode: 2}, dag.Succeeded},
		{dag.Result{Status: dag.Reused}, dag.Reused},
		{dag.Result{Status: dag.Skipped}, dag.Skipped},
		{dag.Result{Status: dag.TimedOut}, dag.TimedOut},
		{dag.Result{Status: dag.Cancelled}, dag.Failed}, // nobody cancelled it
		{dag.Result{Status: dag.Interrupted}, dag.Failed},
		{dag.Result{Status: dag.Running}, dag.Failed},
		{dag.Result{Status: 99}, dag.Failed},
	} {
		s := runs(t, graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: answers(c.result)}), dag.Options{})
		if got := s.Status("a"); got != c.want {
			t.Errorf("%v, exit code %d: is %v, want %v", c.result.Status, c.result.ExitCode, got, c.want)
		}
	}
}

// TestRunnerError: an error ends the run, but only after the reports of others have been
// recorded and everything has been stopped.
func TestRunnerError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("no more processes")
		var stopped bool
		g := graph(t, dag.Settings{},
			dag.Node{ID: "a", Runner: runner(func(context.Context, *dag.Call) (dag.Result, error) {
				time.Sleep(time.Second)
				return dag.Result{}, gone
			})},
			dag.Node{ID: "b", Runner: runner(func(ctx context.Context, _ *dag.Call) (dag.Result, error) {
				<-ctx.Done()
				stopped = errors.Is(context.Cause(ctx), gone)
				return ok, nil
			})})
		slots := dag.NewSlots(2)
		_, err := dag.Run(t.Context(), g, nil, dag.Options{Slots: slots})
		if !errors.Is(err, gone) || !strings.Contains(err.Error(), "step a") {
			t.Errorf("the error is %v", err)
		}
		if !stopped {
			t.Error("b does not know why it had to stop")
		}
		runs(t, graph(t, dag.Settings{}, dag.Node{ID: "x", Runner: answers(ok)}), dag.Options{Slots: slots})
	})
}

// TestJournalFails: nothing starts that could not be recorded; running nodes are stopped;
// no goroutine is left (the bubble would not end).
func TestJournalFails(t *testing.T) {
	for at := 1; at <= 4; at++ {
		synctest.Test(t, func(t *testing.T) {
			j := &journal{failAt: at}
			var starts atomic.Int32
			slow := runner(func(ctx context.Context, c *dag.Call) (dag.Result, error) {
				starts.Add(1)
				return sleeps(time.Second).Run(ctx, c)
			})
			g := graph(t, dag.Settings{},
				dag.Node{ID: "long", Runner: sleeps(time.Hour)},
				dag.Node{ID: "a", Runner: slow},
				dag.Node{ID: "b", Runner: slow, After: []dag.ID{"a"}},
				dag.Node{ID: "c", Runner: slow, After: []dag.ID{"b"}})
			began := time.Now()
			_, err := dag.Run(t.Context(), g, nil, dag.Options{Journal: j})
			if err == nil || !strings.Contains(err.Error(), "disk full") {
				t.Errorf("the error is %v", err)
			}
			if int(starts.Load()) != at-1 || time.Since(began) != time.Duration(at-1)*time.Second {
				t.Errorf("failing at call %d: %d steps started, over after %v", at, starts.Load(), time.Since(began))
			}
		})
	}
}

// TestSlotsInTurn: a run with few steps gets slots beside one with many that came first.
func TestSlotsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := dag.NewSlots(2)
		var wide []dag.Node
		for i := range 100 {
			wide = append(wide, dag.Node{ID: dag.ID(fmt.Sprint("w", i)), Runner: sleeps(time.Second)})
		}
		gw := graph(t, dag.Settings{}, wide...)
		gn := graph(t, dag.Settings{},
			dag.Node{ID: "a", Runner: sleeps(time.Second)},
			dag.Node{ID: "b", Runner: sleeps(time.Second), After: []dag.ID{"a"}},
			dag.Node{ID: "c", Runner: sleeps(time.Second), After: []dag.ID{"b"}})
		done := make(chan struct{})
		go func() {
			defer close(done)
			runs(t, gw, dag.Options{Slots: slots})
		}()
		synctest.Wait()
		began := time.Now()
		runs(t, gn, dag.Options{Slots: slots})
		if d := time.Since(began); d > 8*time.Second {
			t.Errorf("three steps of one second beside a wide run took %v", d)
		}
		<-done
	})
}

// TestNoSlotIsLost: a run that queued for a slot and no longer wants it (it was cancelled)
// returns the one that it is granted.
func TestNoSlotIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := dag.NewSlots(2)
		ctx, cancel := context.WithCancel(t.Context())
		stubborn := runner(func(context.Context, *dag.Call) (dag.Result, error) {
			time.Sleep(time.Hour)
			return ok, nil
		})
		first := graph(t, dag.Settings{}, dag.Node{ID: "short", Runner: sleeps(2 * time.Second)})
		queued := graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: stubborn}, dag.Node{ID: "b", Runner: answers(ok)})
		var all [2]chan struct{}
		for i, start := range []func(){
			func() { runs(t, first, dag.Options{Slots: slots}) },
			func() { dag.Run(ctx, queued, nil, dag.Options{Slots: slots}) },
		} {
			all[i] = make(chan struct{})
			go func() { defer close(all[i]); start() }()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		cancel() // b will not run; a continues for an hour with one slot
		<-all[0]
		began := time.Now()
		runs(t, first, dag.Options{Slots: slots})
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("the other slot was free only after %v", d)
		}
		<-all[1]
	})
}

// TestFallbackKeepsSlot: with one slot nothing runs beside a fallback.
func TestFallbackKeepsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := graph(t, dag.Settings{},
			dag.Node{ID: "a", Runner: answers(fail), Policy: dag.Policy{Fallback: sleeps(time.Minute)}},
			dag.Node{ID: "b", Runner: sleeps(time.Second)})
		tells(t, t.Context(), g, dag.Options{Slots: dag.NewSlots(1)}, `
			0s run.started
			0s step.started a
			0s step.fallback a failed (exit)
			1m0s step.finished a succeeded
			1m0s step.started b
			1m1s step.finished b succeeded
			1m1s run.finished succeeded
		`)
	})
}

// TestCancelledDoNotQueue: a step that was cancelled while it waited for a slot ends
// immediately, at any place in the queue.
func TestCancelledDoNotQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		patient := graph(t, dag.Settings{}, dag.Node{ID: "x", Runner: answers(ok)})
		brief := graph(t, dag.Settings{Timeout: 10 * time.Second}, dag.Node{ID: "y", Runner: answers(ok)})
		g := graph(t, dag.Settings{},
			dag.Node{ID: "long", Runner: sleeps(time.Hour)},
			dag.Node{ID: "a", Graph: patient},
			dag.Node{ID: "b", Graph: brief})
		tells(t, t.Context(), g, dag.Options{Slots: dag.NewSlots(1)}, `
			0s run.started
			0s step.started long
			0s step.started a
			0s step.started b
			10s run.cancelling b (timeout)
			10s step.finished b/y cancelled (timeout)
			10s step.finished b timed-out (timeout)
			1h0m0s step.finished long succeeded
			1h0m0s step.started a/x
			1h0m0s step.finished a/x succeeded
			1h0m0s step.finished a succeeded
			1h0m0s run.finished failed (timeout)
		`)
	})
}

// TestCancelBeforeBind: a cleanup step in a nested graph never runs without the arguments
// of the graph.
func TestCancelBeforeBind(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ran := false
	inner := graph(t, dag.Settings{}, dag.Node{ID: "tidy", When: always, Runner: runner(func(_ context.Context, c *dag.Call) (dag.Result, error) {
		if c.Args() == nil {
			return dag.Result{}, errors.New("it ran without arguments")
		}
		ran = true // the arguments were there before the run saw the cancel
		return ok, nil
	})})
	g := graph(t, dag.Settings{}, dag.Node{ID: "nest", Graph: inner, Bind: func(context.Context, *dag.Call) (dag.Args, error) { return 1, nil }})
	started := dag.SinkFunc(func(e dag.Event) {
		if e.Kind == dag.StepStarted {
			cancel()
		}
	})
	s, err := dag.Run(ctx, g, nil, dag.Options{Sinks: []dag.Sink{started}})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Status("nest"); got != dag.Cancelled && !ran {
		t.Errorf("nest ends %s, want cancelled", got)
	}
}

// TestSlowFinish: a worker completes the result of a graph: other steps are not delayed,
// and what waits for the graph waits for that.
func TestSlowFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := graph(t, dag.Settings{Finish: func(_ dag.View, r *dag.Result) {
			time.Sleep(time.Minute)
			r.Value = "finished"
		}}, dag.Node{ID: "x", Runner: answers(ok)})
		g := graph(t, dag.Settings{},
			dag.Node{ID: "n", Graph: inner},
			dag.Node{ID: "a", Runner: sleeps(time.Second)},
			dag.Node{ID: "b", Runner: sleeps(time.Second), After: []dag.ID{"a"}},
			dag.Node{ID: "last", After: []dag.ID{"n"}, Runner: dag.RunnerFunc(func(_ context.Context, c *dag.Call) (dag.Result, error) {
				if got := c.Result("n").Value; got != "finished" {
					t.Errorf("the graph's value is %v, want finished", got)
				}
				return dag.Result{}, nil
			})},
		)
		tells(t, t.Context(), g, dag.Options{}, `
			0s run.started
			0s step.started n
			0s step.started a
			0s step.started n/x
			0s step.finished n/x succeeded
			1s step.finished a succeeded
			1s step.started b
			2s step.finished b succeeded
			1m0s step.finished n succeeded
			1m0s step.started last
			1m0s step.finished last succeeded
			1m0s run.finished succeeded
		`)
	})
}
