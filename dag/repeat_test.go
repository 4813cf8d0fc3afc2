package dag_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// untilAttempt ends a repetition after that many attempts.
func untilAttempt(n int) func(dag.View, *dag.Result) (bool, error) {
	return func(_ dag.View, r *dag.Result) (bool, error) { return r.Attempts >= n, nil }
}

// TestRepeat: rounds follow each other until the condition holds, and have retries of their own.
func TestRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		poll := dag.Node{ID: "poll", Runner: answers(ok, fail, ok, fail, ok), Policy: dag.Policy{Attempts: 1, Backoff: dag.Backoff{Delay: time.Second},
			Repeat: &dag.Repeat{Done: untilAttempt(5), Backoff: dag.Backoff{Delay: time.Minute}}}}
		s := tells(t, t.Context(), graph(t, dag.Settings{}, poll), dag.Options{}, `
			0s run.started
			0s step.started poll
			0s step.retrying poll succeeded (repeat)
			1m0s step.started poll try 2
			1m0s step.retrying poll failed (exit)
			1m1s step.started poll try 3
			1m1s step.retrying poll succeeded (repeat)
			3m1s step.started poll try 4
			3m1s step.retrying poll failed (exit)
			3m2s step.started poll try 5
			3m2s step.finished poll succeeded
			3m2s run.finished succeeded
		`)
		s.All(func(_ dag.ID, _ *dag.Node, _ dag.Status, r *dag.Result) {
			if r.Attempts != 5 || r.Ended.Sub(r.Started) != 3*time.Minute+2*time.Second {
				t.Errorf("%d attempts in %v, want 5 in 3m2s", r.Attempts, r.Ended.Sub(r.Started))
			}
		})
	})
}

// TestRepeatEndsInTime: the time of all rounds ends the round that runs, a nested graph too, and no
// round starts that would begin after it.
func TestRepeatEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := dag.Policy{Attempts: 9, Repeat: &dag.Repeat{Done: untilAttempt(99), Failures: true, Timeout: 25 * time.Second, Backoff: dag.Backoff{Delay: 5 * time.Second, Growth: dag.Constant}}}
		slow := dag.Node{ID: "slow", Runner: sleeps(6 * time.Second), Policy: policy}
		nest := dag.Node{ID: "nest", Graph: graph(t, dag.Settings{}, dag.Node{ID: "in", Runner: sleeps(9 * time.Second)}), Policy: policy}
		quick := dag.Node{ID: "quick", Runner: sleeps(0), Policy: policy}
		quick.Policy.Repeat = &dag.Repeat{Done: untilAttempt(99), Timeout: 7 * time.Second, Backoff: dag.Backoff{Delay: 5 * time.Second, Growth: dag.Constant}}
		s := tells(t, t.Context(), graph(t, dag.Settings{}, slow, nest, quick), dag.Options{}, `
			0s run.started
			0s step.started slow
			0s step.started nest
			0s step.started quick
			0s step.started nest/in
			0s step.retrying quick succeeded (repeat)
			5s step.started quick try 2
			5s step.finished quick timed-out (repeat)
			6s step.retrying slow succeeded (repeat)
			9s step.finished nest/in succeeded
			9s step.retrying nest succeeded (repeat)
			11s step.started slow try 2
			14s step.started nest try 2
			14s step.started nest#2/in
			17s step.retrying slow succeeded (repeat)
			22s step.started slow try 3
			23s step.finished nest#2/in succeeded
			23s step.finished nest timed-out (repeat)
			25s step.finished slow timed-out (repeat)
			25s run.finished failed (repeat)
		`)
		want := map[dag.ID]string{
			"slow": "gave up after 25s, in round 3", "nest": "gave up after 2 rounds: the next would start after the timeout of 25s", "quick": "gave up after 2 rounds: the next would start after the timeout of 7s", "nest#2/in": ""}
		s.All(func(path dag.ID, _ *dag.Node, _ dag.Status, r *dag.Result) {
			if r.Message != want[path] {
				t.Errorf("%s: %q, want %q", path, r.Message, want[path])
			}
		})
	})
}

// TestRepeatSurvives: after a resume a node has the rounds and the time that were left, whether
// flowrun was killed between two rounds or in one, in a nested graph too.
// TestRound: a runner knows which round it runs, in a retry too, and the order for another process says it.
func TestRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		poll := dag.Node{ID: "poll", Runner: runner(func(_ context.Context, c *dag.Call) (dag.Result, error) {
			got = append(got, fmt.Sprint(c.Attempt, "/", c.Round))
			if c.Attempt == 2 {
				return fail, nil
			}
			return ok, nil
		}), Policy: dag.Policy{Attempts: 1, Repeat: &dag.Repeat{Done: untilAttempt(4), Backoff: dag.Backoff{Delay: time.Minute}}}}
		if _, err := dag.Run(t.Context(), graph(t, dag.Settings{}, poll), nil, dag.Options{ID: "run"}); err != nil {
			t.Fatal(err)
		}
		if want := "1/1 2/2 3/2 4/3"; strings.Join(got, " ") != want {
			t.Errorf("attempts and rounds %v, want %s", got, want)
		}
	})
}

func TestRepeatSurvives(t *testing.T) {
	for _, c := range []struct {
		name   string
		lives  int
		killed time.Duration
		want   int // attempts
	}{{"between rounds", 5, 15 * time.Minute, 4}, {"in a round", 4, 11*time.Minute + 30*time.Second, 4}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				poll := dag.Node{ID: "poll", Runner: sleeps(time.Minute), Policy: dag.Policy{
					Repeat: &dag.Repeat{Done: untilAttempt(99), Max: 4, Timeout: 100 * time.Minute, Backoff: dag.Backoff{Delay: 10 * time.Minute, Growth: dag.Constant}}}}
				bind := func(context.Context, *dag.Call) (dag.Args, error) { return "inner", nil }
				g := graph(t, dag.Settings{}, dag.Node{ID: "nest", Graph: graph(t, dag.Settings{}, poll), Bind: bind})
				j := &cutJournal{lives: c.lives}
				ctx, cancel := context.WithTimeout(t.Context(), c.killed)
				defer cancel()
				if _, err := dag.Run(ctx, g, nil, dag.Options{ID: "run", Journal: j}); err == nil {
					t.Fatal("the journal lives on")
				}
				time.Sleep(50 * time.Minute)
				state, rest := j.carry(t, g, dag.Rules{Rerun: func(dag.ID, *dag.Node) bool { return true }})
				var started, ended int
				_, err := dag.Run(t.Context(), g, nil, dag.Options{ID: "run", Carry: state, Opening: []dag.Event{{Kind: dag.RunResumed, Reset: rest.Reset}},
					Sinks: []dag.Sink{dag.SinkFunc(func(e dag.Event) {
						switch {
						case e.Kind == dag.StepStarted:
							started = e.Attempt
						case e.Kind == dag.StepFinished && e.Node == "nest/poll":
							ended = e.Result.Attempts
							if e.Result.Reason != dag.ReasonRepeat || e.Result.Status != dag.Failed || e.Result.Message != "gave up after 4 rounds" {
								t.Errorf("the step ends %v (%s): %s", e.Result.Status, e.Result.Reason, e.Result.Message)
							}
						}
					})}})
				if err != nil {
					t.Fatal(err)
				}
				if started != c.want || ended != c.want {
					t.Errorf("the last attempt is %d, the result has %d, want %d", started, ended, c.want)
				}
			})
		})
	}
}

// TestRepeatFrom: a step that is to run again from the start has all its rounds and all its time.
func TestRepeatFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		poll := dag.Node{ID: "poll", Runner: answers(ok), Policy: dag.Policy{
			Repeat: &dag.Repeat{Done: untilAttempt(99), Max: 2, Timeout: time.Hour, Backoff: dag.Backoff{Delay: time.Minute}}}}
		g := graph(t, dag.Settings{}, poll)
		j := &cutJournal{lives: 1000}
		if _, err := dag.Run(t.Context(), g, nil, dag.Options{ID: "run", Journal: j}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		state, rest := j.carry(t, g, dag.Rules{})
		tells(t, t.Context(), g, dag.Options{ID: "run", Carry: state, Opening: []dag.Event{{Kind: dag.RunResumed, Reset: rest.Reset}}}, `
			0s run.resumed
			0s step.started poll
			0s step.retrying poll succeeded (repeat)
			1m0s step.started poll try 2
			1m0s step.finished poll failed (repeat)
			1m0s run.finished failed (repeat)
		`)
	})
}

// TestRepeatCancelled: a cancel between two rounds ends the node at once, with the output of the
// last round.
func TestRepeatCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		poll := dag.Node{ID: "poll", Runner: answers(dag.Result{Stdout: &dag.Output{Inline: "2 of 5"}}), Policy: dag.Policy{
			Repeat: &dag.Repeat{Done: untilAttempt(99), Backoff: dag.Backoff{Delay: time.Hour}}}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		s := tells(t, ctx, graph(t, dag.Settings{}, poll), dag.Options{}, `
			0s run.started
			0s step.started poll
			0s step.retrying poll succeeded (repeat)
			10m0s run.cancelling (cancelled)
			10m0s step.finished poll cancelled (cancelled)
			10m0s run.finished cancelled (cancelled)
		`)
		s.All(func(_ dag.ID, _ *dag.Node, _ dag.Status, r *dag.Result) {
			if r.Stdout == nil || r.Stdout.Inline != "2 of 5" {
				t.Errorf("the output is %v", r.Stdout)
			}
		})
	})
}

// TestRepeatCancelledInRound: a round that ends well although a cancel came during it is the last one. The node has
// succeeded only if its condition holds.
func TestRepeatCancelledInRound(t *testing.T) {
	steadfast := runner(func(context.Context, *dag.Call) (dag.Result, error) {
		time.Sleep(10 * time.Second)
		return dag.Result{Stdout: &dag.Output{Inline: "2 of 5"}}, nil
	})
	rounds := func(done func(dag.View, *dag.Result) (bool, error), most int) dag.Policy {
		return dag.Policy{Repeat: &dag.Repeat{Done: done, Max: most, Backoff: dag.Backoff{Delay: time.Minute}}}
	}
	broken := func(dag.View, *dag.Result) (bool, error) { return false, errors.New("is no JSON") }
	inner := graph(t, dag.Settings{}, dag.Node{ID: "in", Runner: steadfast})
	for _, c := range []struct {
		name string
		node dag.Node
		run  dag.Settings
		want string // end of the node and of the run
	}{
		{"not done", dag.Node{ID: "poll", Runner: steadfast, Policy: rounds(untilAttempt(99), 0)}, dag.Settings{}, "cancelled (cancelled), cancelled (cancelled)"},
		{"done", dag.Node{ID: "poll", Runner: steadfast, Policy: rounds(untilAttempt(1), 0)}, dag.Settings{}, "succeeded, succeeded"},
		{"unknown", dag.Node{ID: "poll", Runner: steadfast, Policy: rounds(broken, 0)}, dag.Settings{}, "cancelled (cancelled), cancelled (cancelled)"},
		{"last round", dag.Node{ID: "poll", Runner: steadfast, Policy: rounds(untilAttempt(99), 1)}, dag.Settings{}, "cancelled (cancelled), cancelled (cancelled)"},
		{"group", dag.Node{ID: "poll", Graph: inner, Policy: rounds(untilAttempt(99), 0)}, dag.Settings{}, "cancelled (cancelled), cancelled (cancelled)"},
		{"group that is done", dag.Node{ID: "poll", Graph: inner, Policy: rounds(untilAttempt(1), 0)}, dag.Settings{}, "succeeded, succeeded"},
		{"always", dag.Node{ID: "poll", When: always, Runner: steadfast, Policy: rounds(untilAttempt(99), 0)}, dag.Settings{}, "cancelled (cancelled), cancelled (cancelled)"},
		{"timeout of the run", dag.Node{ID: "poll", Runner: steadfast, Policy: rounds(untilAttempt(99), 0)}, dag.Settings{Timeout: 4 * time.Second}, "cancelled (timeout), timed-out (timeout)"},
		{"no repeat", dag.Node{ID: "poll", Runner: steadfast}, dag.Settings{}, "succeeded, succeeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				var d diary
				if _, err := dag.Run(ctx, graph(t, c.run, c.node), nil, dag.Options{Sinks: []dag.Sink{&d}}); err != nil {
					t.Fatal(err)
				}
				var ends []string
				for _, line := range d.lines {
					if _, end, ok := strings.Cut(line, "step.finished poll "); ok {
						ends = append(ends, end)
					} else if _, end, ok := strings.Cut(line, "run.finished "); ok {
						ends = append(ends, end)
					}
				}
				if got := strings.Join(ends, ", "); got != c.want {
					t.Errorf("the ends are %s, want %s\n%s", got, c.want, strings.Join(d.lines, "\n"))
				}
			})
		})
	}
}
