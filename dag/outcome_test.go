package dag_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// prints is a runner that prints a text after some time, and fails where the text
// says so.
func prints(text string, after time.Duration) dag.Runner {
	return runner(func(ctx context.Context, c *dag.Call) (dag.Result, error) {
		r, err := sleeps(after).Run(ctx, c)
		if text == "bad" {
			r.ExitCode, r.Reason = 3, dag.ReasonExit
		}
		r.Stdout = &dag.Output{Raw: text}
		return r, err
	})
}

// printed is the output of a result, "" for none.
func printed(r *dag.Result) string {
	if r.Stdout == nil {
		return ""
	}
	return r.Stdout.Raw
}

// TestOutcome: a node that waits for a join with Summarizes sees the result of the graph so
// far, whatever it is, and runs even if a failed step would have tainted it.
func TestOutcome(t *testing.T) {
	for _, tc := range []struct {
		name     string
		settings dag.Settings
		a, b     dag.Runner
		cancel   time.Duration
		want     string // what the handlers see; "" where they do not run
		run      string
	}{
		{"all well", dag.Settings{}, prints("a", 1), prints("b", 2), 0, "plain succeeded 0 b, always succeeded 0 b", "succeeded 0 b"},
		{"one failed", dag.Settings{}, prints("bad", 1), prints("b", 2), 0, "plain failed 3 b, always failed 3 b", "failed 3 b"},
		{"cancelled", dag.Settings{}, prints("a", 1), sleeps(time.Hour), time.Second, "always cancelled 130 a", "cancelled 130 "},
		{"out of time", dag.Settings{Timeout: time.Second}, prints("a", 1), sleeps(time.Hour), 0, "always timed-out 124 a", "timed-out 124 "},
		{"fail-fast", dag.Settings{FailFast: true}, prints("bad", 1), sleeps(time.Hour), 0, "always failed 3 bad", "failed 3 "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				saw := ""
				tell := func(v dag.View) (bool, error) {
					if v.Tainted() {
						return false, errors.New("it is tainted")
					}
					return true, nil
				}
				handler := func(name string) dag.Runner {
					return runner(func(_ context.Context, c *dag.Call) (dag.Result, error) {
						if saw != "" {
							saw += ", "
						}
						r := c.Result("outcome")
						saw += fmt.Sprintf("%s %s %d %s", name, r.Status, r.ExitCode, r.Stdout.Raw)
						return dag.Result{Stdout: &dag.Output{Raw: name}}, nil
					})
				}
				within := graph(t, dag.Settings{InheritResults: true}, dag.Node{ID: "x", Runner: handler("always"), When: &dag.When{Uses: dag.UsesCancel, Eval: tell}})
				g := graph(t, tc.settings,
					dag.Node{ID: "a", Runner: tc.a}, dag.Node{ID: "b", Runner: tc.b},
					dag.Node{ID: "outcome", Summarizes: []dag.ID{"a", "b"}, After: []dag.ID{"a", "b"}},
					dag.Node{ID: "plain", After: []dag.ID{"outcome"}, NoOutput: true, Runner: handler("plain")},
					dag.Node{ID: "always", After: []dag.ID{"outcome", "plain"}, NoOutput: true, When: &dag.When{Uses: dag.UsesCancel, Eval: tell}, Graph: within})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.cancel > 0 {
					time.AfterFunc(tc.cancel, cancel)
				}
				r := runsUnder(t, ctx, g, dag.Options{}).Result()
				if saw != tc.want {
					t.Errorf("the handlers see %q, want %q", saw, tc.want)
				}
				if got := fmt.Sprintf("%s %d %s", r.Status, r.ExitCode, printed(r)); got != tc.run {
					t.Errorf("the run is %q, want %q", got, tc.run)
				}
			})
		})
	}
}

// TestOutcomeAfterResume: a handler that had not ended when flowrun was killed sees after a
// resume what it would have seen before.
func TestOutcomeAfterResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var saw []string
		handler := func(d time.Duration) dag.Runner {
			return runner(func(ctx context.Context, c *dag.Call) (dag.Result, error) {
				r := c.Result("outcome")
				saw = append(saw, fmt.Sprintf("%s %s %d %s", c.Path, r.Status, r.ExitCode, r.Message))
				return sleeps(d).Run(ctx, c)
			})
		}
		failsToo := runner(func(ctx context.Context, c *dag.Call) (dag.Result, error) { return dag.Result{ExitCode: 9}, nil })
		g := graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: answers(ok)},
			dag.Node{ID: "outcome", Summarizes: []dag.ID{"a"}, After: []dag.ID{"a"}},
			dag.Node{ID: "first", After: []dag.ID{"outcome"}, NoOutput: true, Runner: failsToo, Policy: dag.Policy{Tolerate: true}},
			dag.Node{ID: "last", After: []dag.ID{"outcome"}, NoOutput: true, Runner: handler(time.Minute)})
		j := &cutJournal{lives: 1000}
		if _, err := dag.Run(t.Context(), g, nil, dag.Options{ID: "run", Journal: &mortal{j, time.Now().Add(time.Second)}}); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		state, rest := j.carry(t, g, dag.Rules{Rerun: func(dag.ID, *dag.Node) bool { return true }})
		if got := fmt.Sprint(rest.Reset, rest.Kept); got != "[last] [a first]" {
			t.Fatalf("reset, kept: %s", got)
		}
		runs(t, g, dag.Options{ID: "run", Carry: state, Opening: []dag.Event{{Kind: dag.RunResumed, Reset: rest.Reset}}})
		if len(saw) != 2 || saw[0] != saw[1] || saw[0] != "last succeeded 0 " {
			t.Errorf("it sees %q", saw)
		}
	})
}

// TestNoOutput: the failure of a node with NoOutput is that of the run, its output is not.
func TestNoOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := graph(t, dag.Settings{}, dag.Node{ID: "x", Runner: prints("inner", 0)})
		for _, tc := range []struct {
			silent dag.Node
			want   string
		}{
			{dag.Node{Runner: prints("bad", 0)}, "failed 3 a"},
			{dag.Node{Graph: inner}, "succeeded 0 a"},
			{loopOver("", dag.Each{Items: count(2), Item: dag.Node{Runner: prints("item", 0)}, Gather: outputs, Keep: 99}), "succeeded 0 a"},
		} {
			n := tc.silent
			n.ID, n.After, n.NoOutput = "s", []dag.ID{"a"}, true
			r := runs(t, graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: prints("a", 0)}, n), dag.Options{}).Result()
			if got := fmt.Sprintf("%s %d %s", r.Status, r.ExitCode, r.Stdout.Raw); got != tc.want {
				t.Errorf("the run is %q, want %q", got, tc.want)
			}
		}
		if r := runs(t, graph(t, dag.Settings{}, dag.Node{ID: "s", NoOutput: true, Runner: prints("s", 0)}), dag.Options{}).Result(); r.Stdout != nil {
			t.Errorf("the run prints %q", r.Stdout.Raw)
		}
	})
}
