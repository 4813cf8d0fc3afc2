package dag_test

import (
	"context"
	"errors"
	"fmt"
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

var always = &dag.When{Sees: dag.SeesCancel, Eval: func(dag.View) (bool, error) { return true, nil }}

// diary writes down what happened and when, counted from its first event.
type diary struct {
	began time.Time
	lines []string
	cause map[dag.ID]error
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

// TestJitter: every wait is a part of what it would be without jitter, and they differ.
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
			1s step.retrying a timed-out
			6s step.started a try 2
			7s step.fallback a timed-out
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

// TestNestedFallback: the fallback of a nested graph is a leaf: it runs, and it
// waits for a slot like any other.
func TestNestedFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := graph(t, dag.Settings{}, dag.Node{ID: "x", Runner: answers(fail)})
		bind := func(context.Context, *dag.Call) (dag.Args, error) { return nil, errors.New("parameter p is missing") }
		g := graph(t, dag.Settings{},
			dag.Node{ID: "n", Graph: inner, Policy: dag.Policy{Attempts: 1, Fallback: sleeps(time.Second)}},
			dag.Node{ID: "long", Runner: sleeps(time.Minute)},
			dag.Node{ID: "refused", Graph: inner, Bind: bind, Policy: dag.Policy{Attempts: 3, Fallback: sleeps(time.Second)}},
		)
		tells(t, t.Context(), g, dag.Options{Slots: dag.NewSlots(1)}, `
			0s run.started
			0s step.started n
			0s step.started long
			0s step.started refused
			1m0s step.finished long succeeded
			1m0s step.fallback refused failed
			1m1s step.finished refused succeeded
			1m1s step.started n/x
			1m1s step.finished n/x failed (exit)
			1m1s step.retrying n failed
			1m1s step.started n try 2
			1m1s step.started n#2/x
			1m1s step.finished n#2/x failed
			1m1s step.fallback n failed
			1m2s step.finished n succeeded
			1m2s run.finished succeeded
		`)
	})
}
