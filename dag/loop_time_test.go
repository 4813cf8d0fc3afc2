package dag_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
)

// numbers are that many items without keys.
type numbers int

func (n numbers) Len() int            { return int(n) }
func (n numbers) Digest() string      { return "" }
func (n numbers) Keys() []string      { return nil }
func (n numbers) Args(i int) dag.Args { return i }

func count(n int) func(context.Context, *dag.Call) (dag.Items, error) {
	return func(context.Context, *dag.Call) (dag.Items, error) { return numbers(n), nil }
}

func loopOver(id dag.ID, e dag.Each) dag.Node { return dag.Node{ID: id, Each: &e} }

// byItem is a runner that does for each item what its number says.
func byItem(rs ...dag.Runner) dag.Runner {
	return runner(func(ctx context.Context, c *dag.Call) (dag.Result, error) {
		return rs[c.Args().(int)].Run(ctx, c)
	})
}

// TestLoopRetryHoldsPlace: if a loop has Parallel, an item that waits for its next attempt
// counts.
func TestLoopRetryHoldsPlace(t *testing.T) {
	flaky := dag.Node{Runner: byItem(tryBy(fail, ok), sleeps(time.Second), sleeps(time.Second)),
		Policy: dag.Policy{Attempts: 1, Backoff: dag.Backoff{Delay: time.Minute}}}
	synctest.Test(t, func(t *testing.T) {
		g := graph(t, dag.Settings{}, loopOver("l", dag.Each{Items: count(3), Item: flaky, Parallel: 1}))
		tells(t, t.Context(), g, dag.Options{}, `
			0s run.started
			0s step.started l
			0s step.expanded l
			0s step.started l[0]
			0s step.retrying l[0] failed (exit)
			1m0s step.started l[0] try 2
			1m0s step.finished l[0] succeeded
			1m0s step.started l[1]
			1m1s step.finished l[1] succeeded
			1m1s step.started l[2]
			1m2s step.finished l[2] succeeded
			1m2s step.finished l succeeded
			1m2s run.finished succeeded
		`)
	})
}

// TestLoopRetryFreesPlace: if only slots limit a loop, others run while an item waits for
// its next attempt.
func TestLoopRetryFreesPlace(t *testing.T) {
	flaky := dag.Node{Runner: byItem(tryBy(fail, ok), sleeps(time.Second), sleeps(time.Second)),
		Policy: dag.Policy{Attempts: 1, Backoff: dag.Backoff{Delay: time.Minute}}}
	synctest.Test(t, func(t *testing.T) {
		g := graph(t, dag.Settings{}, loopOver("l", dag.Each{Items: count(3), Item: flaky}))
		tells(t, t.Context(), g, dag.Options{Slots: dag.NewSlots(1)}, `
			0s run.started
			0s step.started l
			0s step.expanded l
			0s step.started l[0]
			0s step.retrying l[0] failed (exit)
			0s step.started l[1]
			1s step.finished l[1] succeeded
			1s step.started l[2]
			2s step.finished l[2] succeeded
			1m0s step.started l[0] try 2
			1m0s step.finished l[0] succeeded
			1m0s step.finished l succeeded
			1m0s run.finished succeeded
		`)
	})
}

// TestLoopStartsInOrder: items start in order, also beside other steps.
func TestLoopStartsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started []string
		note := dag.SinkFunc(func(e dag.Event) {
			if e.Kind == dag.StepStarted && strings.HasPrefix(string(e.Node), "l[") {
				started = append(started, string(e.Node))
			}
		})
		brief := runner(func(ctx context.Context, c *dag.Call) (dag.Result, error) {
			return sleeps(time.Duration((c.Args().(int)*7)%13)*time.Second).Run(ctx, c)
		})
		g := graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: sleeps(5 * time.Second)},
			loopOver("l", dag.Each{Items: count(50), Item: dag.Node{Runner: brief}}), dag.Node{ID: "b", Runner: sleeps(time.Second)})
		runs(t, g, dag.Options{Slots: dag.NewSlots(3), Sinks: []dag.Sink{note}})
		var want []string
		for i := range 50 {
			want = append(want, fmt.Sprintf("l[%d]", i))
		}
		if diff := cmp.Diff(want, started); diff != "" {
			t.Errorf("started (-want +got):\n%s", diff)
		}
	})
}

// TestItemTimeout: a time limit of Item applies to each item; one of the loop applies to
// all of them together.
func TestItemTimeout(t *testing.T) {
	item := dag.Node{Runner: byItem(sleeps(time.Second), sleeps(time.Hour), sleeps(time.Second)), Policy: dag.Policy{Timeout: time.Minute}}
	synctest.Test(t, func(t *testing.T) {
		g := graph(t, dag.Settings{}, loopOver("l", dag.Each{Items: count(3), Item: item, Parallel: 1}))
		s := tells(t, t.Context(), g, dag.Options{}, `
			0s run.started
			0s step.started l
			0s step.expanded l
			0s step.started l[0]
			1s step.finished l[0] succeeded
			1s step.started l[1]
			1m1s step.finished l[1] timed-out (timeout)
			1m1s step.started l[2]
			1m2s step.finished l[2] succeeded
			1m2s step.finished l failed (timeout)
			1m2s run.finished failed (timeout)
		`)
		if s.Result().ExitCode != dag.ExitTimeout {
			t.Errorf("exit code is %d", s.Result().ExitCode)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		l := loopOver("l", dag.Each{Items: count(3), Item: item, Parallel: 1})
		l.Policy.Timeout = 30 * time.Second
		tells(t, t.Context(), graph(t, dag.Settings{}, l), dag.Options{}, `
			0s run.started
			0s step.started l
			0s step.expanded l
			0s step.started l[0]
			1s step.finished l[0] succeeded
			1s step.started l[1]
			30s run.cancelling l (timeout)
			30s step.finished l[1] cancelled (timeout)
			30s step.finished l[2] cancelled (timeout)
			30s step.finished l timed-out (timeout)
			30s run.finished failed (timeout)
		`)
	})
}

// TestLoopTimersSurvive: an item that waited for its next attempt when flowrun was killed
// still waits until that attempt was due; one that had succeeded does not run again.
func TestLoopTimersSurvive(t *testing.T) {
	for _, parallel := range []int{0, 2} {
		synctest.Test(t, func(t *testing.T) {
			flaky := dag.Node{Runner: byItem(tryBy(fail, ok), answers(ok), sleeps(time.Second)),
				Policy: dag.Policy{Attempts: 1, Backoff: dag.Backoff{Delay: time.Hour}}}
			g := graph(t, dag.Settings{}, loopOver("l", dag.Each{Items: count(3), Item: flaky, Parallel: parallel}))
			j := &cutJournal{lives: 1000}
			if _, err := dag.Run(t.Context(), g, nil, dag.Options{ID: "run", Journal: &mortal{j, time.Now().Add(500 * time.Millisecond)}, Slots: dag.NewSlots(2)}); !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			state, rest := j.carry(t, g, dag.Rules{Rerun: func(dag.ID, *dag.Node) bool { return true }})
			if got := fmt.Sprint(rest.Waiting, rest.Reset, rest.Kept); got != "[l[0]] [l[2]] [l[1]]" {
				t.Fatalf("waiting, reset, kept: %s", got)
			}
			time.Sleep(20*time.Minute - time.Second)
			tells(t, t.Context(), g, dag.Options{ID: "run", Carry: state, Opening: []dag.Event{{Kind: dag.RunResumed, Reset: rest.Reset}}}, `
				0s run.resumed
				0s step.started l[2]
				1s step.finished l[2] succeeded
				40m0s step.started l[0] try 2
				40m0s step.finished l[0] succeeded
				40m0s step.finished l succeeded
				40m0s run.finished succeeded
			`)
		})
	}
}

// mortal is a journal that keeps events until some time.
type mortal struct {
	*cutJournal
	end time.Time
}

func (j *mortal) Append(ctx context.Context, events []dag.Event) error {
	if time.Now().After(j.end) {
		return errKilled
	}
	return j.cutJournal.Append(ctx, events)
}

// TestLoopCancelled: a cancel ends the items that have not started, however many, and no
// turn records more than a batch of them.
func TestLoopCancelled(t *testing.T) {
	const many = 20_000
	nested := dag.Node{Graph: graph(t, dag.Settings{}, dag.Node{ID: "x", Runner: sleeps(time.Hour)})}
	flaky := dag.Node{Runner: answers(fail), Policy: dag.Policy{Attempts: 1, Backoff: dag.Backoff{Delay: time.Hour}}}
	flaky.ID = "x"
	waits := dag.Node{Graph: graph(t, dag.Settings{}, flaky)}
	wide := make([]dag.Node, many)
	for i := range wide {
		wide[i] = dag.Node{ID: dag.ID(fmt.Sprint("n", i)), Runner: sleeps(time.Hour)}
	}
	for _, tc := range []struct {
		name  string
		nodes []dag.Node
	}{
		{"items", []dag.Node{loopOver("l", dag.Each{Items: count(many), Item: dag.Node{Runner: sleeps(time.Hour)}})}},
		{"a few at a time", []dag.Node{loopOver("l", dag.Each{Items: count(many), Item: dag.Node{Runner: sleeps(time.Hour)}, Parallel: 3})}},
		{"nested graphs", []dag.Node{loopOver("l", dag.Each{Items: count(many), Item: nested})}},
		{"waiting for their next try", []dag.Node{loopOver("l", dag.Each{Items: count(many), Item: flaky})}},
		{"nested graphs that wait for their next try", []dag.Node{loopOver("l", dag.Each{Items: count(many), Item: waits, Parallel: many})}},
		{"steps", wide},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				j := &sizes{}
				s := runsUnder(t, ctx, graph(t, dag.Settings{}, tc.nodes...), dag.Options{Journal: j, Slots: dag.NewSlots(4)})
				s.All(func(path dag.ID, _ *dag.Node, st dag.Status, _ *dag.Result) {
					if st != dag.Cancelled {
						t.Fatalf("%s is %s", path, st)
					}
				})
				if s.Result().Status != dag.Cancelled || slices.Max(j.turns) > 10_000 {
					t.Errorf("the run is %s, the longest turn has %d events", s.Result().Status, slices.Max(j.turns))
				}
			})
		})
	}
}

func runsUnder(t *testing.T, ctx context.Context, g *dag.Graph, o dag.Options) *dag.State {
	t.Helper()
	s, err := dag.Run(ctx, g, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sizes is a journal that knows how many events each turn had.
type sizes struct{ turns []int }

func (j *sizes) Sync(context.Context) error { return nil }
func (j *sizes) Append(_ context.Context, events []dag.Event) error {
	j.turns = append(j.turns, len(events))
	return nil
}

// TestLoopFailFast: when too many items have failed for the loop to succeed, the active
// ones are stopped and the rest never start. Other steps continue.
func TestLoopFailFast(t *testing.T) {
	after := func(d time.Duration, r dag.Result) dag.Runner {
		return runner(func(context.Context, *dag.Call) (dag.Result, error) { time.Sleep(d); return r, nil })
	}
	slowly := runner(func(ctx context.Context, _ *dag.Call) (dag.Result, error) {
		<-ctx.Done()
		time.Sleep(time.Second)
		return dag.Result{ExitCode: 143}, nil
	})
	item := dag.Node{Runner: byItem(after(1*time.Second, fail), after(2*time.Second, dag.Result{ExitCode: 7, Reason: dag.ReasonExit}), sleeps(time.Hour), slowly)}
	for _, tc := range []struct {
		least int
		want  string
	}{
		{0, `
			1s run.cancelling l (fail-fast)
			1s step.finished l[3] cancelled (fail-fast)
			1s step.finished l[2] cancelled (fail-fast)
			2s step.finished l[1] cancelled (fail-fast)
			2s step.finished l failed (exit)
		`},
		{3, `
			1s step.started l[3]
			2s step.finished l[1] failed (exit)
			2s run.cancelling l (fail-fast)
			2s step.finished l[2] cancelled (fail-fast)
			3s step.finished l[3] cancelled (fail-fast)
			3s step.finished l failed (exit)
		`},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := graph(t, dag.Settings{}, loopOver("l", dag.Each{Items: count(4), Item: item, Parallel: 3, MinSuccess: tc.least, FailFast: true}),
				dag.Node{ID: "b", Runner: sleeps(5 * time.Second)})
			tells(t, t.Context(), g, dag.Options{}, `
				0s run.started
				0s step.started l
				0s step.started b
				0s step.expanded l
				0s step.started l[0]
				0s step.started l[1]
				0s step.started l[2]
				1s step.finished l[0] failed (exit)
				`+strings.TrimSpace(tc.want)+`
				5s step.finished b succeeded
				5s run.finished failed (exit)
			`)
		})
	}
}

// TestLoopStoppedByOthers: a loop whose items were stopped because another step failed is
// cancelled, not succeeded.
func TestLoopStoppedByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := runner(func(context.Context, *dag.Call) (dag.Result, error) { time.Sleep(time.Second); return fail, nil })
		item := dag.Node{Runner: byItem(answers(ok), sleeps(time.Hour))}
		g := graph(t, dag.Settings{FailFast: true}, dag.Node{ID: "bad", Runner: bad},
			loopOver("l", dag.Each{Items: count(2), Item: item}),
			loopOver("enough", dag.Each{Items: count(2), Item: item, MinSuccess: 1}),
			loopOver("unlucky", dag.Each{Items: count(2), Item: dag.Node{Runner: byItem(answers(fail), sleeps(time.Hour))}}))
		s := runs(t, g, dag.Options{})
		for id, want := range map[dag.ID]dag.Status{"l": dag.Cancelled, "enough": dag.Cancelled, "unlucky": dag.Failed} {
			if got := s.Status(id); got != want {
				t.Errorf("%s is %s, want %s", id, got, want)
			}
		}
	})
}

// interrupted resumes a run over g that is interrupted after half a second. What ran then does
// not run again where lost says so.
func interrupted(t *testing.T, first, then *dag.Graph, lost map[dag.ID]bool, sinks ...dag.Sink) *dag.State {
	t.Helper()
	j := &cutJournal{lives: 1000}
	if _, err := dag.Run(t.Context(), first, nil, dag.Options{ID: "run", Journal: &mortal{j, time.Now().Add(500 * time.Millisecond)}}); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	state, rest := j.carry(t, then, dag.Rules{Rerun: func(path dag.ID, _ *dag.Node) bool { return !lost[path] }})
	opening := []dag.Event{{Kind: dag.RunResumed, Reset: rest.Reset}}
	for _, path := range rest.Interrupted {
		opening = append(opening, dag.Event{Kind: dag.StepFinished, Node: path, Result: &dag.Result{Status: dag.Interrupted, ExitCode: 1, Reason: dag.ReasonInterrupted}})
	}
	return runs(t, then, dag.Options{ID: "run", Carry: state, Opening: opening, Sinks: sinks})
}

// TestLoopOtherItems: a resumed loop with items other than the recorded ones is an error.
func TestLoopOtherItems(t *testing.T) {
	over := func(keys ...string) *dag.Graph {
		return graph(t, dag.Settings{}, loopOver("l", dag.Each{Items: items(keys...), Item: dag.Node{Runner: sleeps(time.Minute)}}))
	}
	for _, tc := range []struct {
		keys []string
		want string
	}{
		{[]string{"a", "b"}, "goes on"},
		{[]string{"b", "a"}, "refused"},
		{[]string{"a", "b", "c"}, "refused"},
		{nil, "refused"},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := &cutJournal{lives: 1000}
			if _, err := dag.Run(t.Context(), over("a", "b"), nil, dag.Options{ID: "run", Journal: &mortal{j, time.Now().Add(500 * time.Millisecond)}}); !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			then := over(tc.keys...)
			state, rest := j.carry(t, then, dag.Rules{Rerun: func(dag.ID, *dag.Node) bool { return true }})
			later := &cutJournal{lives: 1000}
			_, err := dag.Run(t.Context(), then, nil, dag.Options{ID: "run", Journal: later, Carry: state, Opening: []dag.Event{{Kind: dag.RunResumed, Reset: rest.Reset}}})
			got := "goes on"
			if err != nil {
				got = "refused"
			}
			if got != tc.want {
				t.Errorf("over %q the run %s (%v), want %s", tc.keys, got, err, tc.want)
			}
			for _, e := range later.events {
				if got == "refused" && e.Kind != dag.RunResumed {
					t.Errorf("%s %s is on record, which keeps the run from continuing later", e.Kind, e.Node)
				}
			}
		})
	}
}

// TestLoopFailFastAfterResume: an item that was interrupted and does not run again counts
// as failed.
func TestLoopFailFastAfterResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		item := dag.Node{Runner: byItem(sleeps(time.Minute), answers(fail), answers(ok))}
		g := graph(t, dag.Settings{}, loopOver("l", dag.Each{Items: count(3), Item: item, Parallel: 1, MinSuccess: 2, FailFast: true}))
		s := interrupted(t, g, g, map[dag.ID]bool{"l[0]": true})
		if got := fmt.Sprint(s.Status("l[0]"), s.Status("l[1]"), s.Status("l[2]"), s.Status("l")); got != "interrupted failed cancelled failed" {
			t.Errorf("they end %s", got)
		}
	})
}

// TestLoopKeepsOutput: Gather gets the output of items up to Keep, and nothing else of it
// stays in memory; output that is cut is marked.
func TestLoopKeepsOutput(t *testing.T) {
	inner := graph(t, dag.Settings{}, dag.Node{ID: "x", Runner: prints("12345", 0)}, dag.Node{ID: "y", After: []dag.ID{"x"}, Runner: prints("67890", 0)})
	for name, item := range map[string]dag.Node{"leaf": {Runner: prints("67890", 0)}, "graph": {Graph: inner}} {
		t.Run(name, func(t *testing.T) {
			got := ""
			gather := func(_ dag.View, items []*dag.Result, _ *dag.Result) {
				for _, it := range items {
					got += fmt.Sprintf("%s %v ", it.Stdout.Raw, it.Stdout.Truncated)
				}
			}
			s := runs(t, graph(t, dag.Settings{}, loopOver("l", dag.Each{Items: count(3), Item: item, Parallel: 1, Keep: 12, Gather: gather})), dag.Options{})
			if want := "67890 false 67890 false  true "; got != want {
				t.Errorf("Gather sees %q, want %q", got, want)
			}
			s.All(func(path dag.ID, _ *dag.Node, _ dag.Status, r *dag.Result) {
				if strings.Contains(string(path), "/") && r.Stdout.Raw != "" {
					t.Errorf("%s still holds %q", path, r.Stdout.Raw)
				}
			})
		})
	}
}
