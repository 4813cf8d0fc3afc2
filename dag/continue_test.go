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

// cutJournal is a journal that keeps the events up to the moment at which flowrun is killed.
type cutJournal struct {
	lives  int // turns
	events []dag.Event
	synced []int // how many events there were at each Sync
}

var errKilled = errors.New("killed")

func (j *cutJournal) Append(_ context.Context, events []dag.Event) error {
	if j.lives--; j.lives < 0 {
		return errKilled
	}
	j.events = append(j.events, events...)
	return nil
}

func (j *cutJournal) Sync(context.Context) error {
	j.synced = append(j.synced, len(j.events))
	return nil
}

// carry is what a State needs to be carried on after flowrun was killed.
func (j *cutJournal) carry(t *testing.T, g *dag.Graph, rules dag.Rules) (*dag.State, *dag.Remainder) {
	t.Helper()
	s := dag.NewState("run", g, nil)
	for _, e := range j.events {
		s.Apply(e)
	}
	return s, s.Remainder(rules)
}

// TestRetrySurvives: a step that waited for its next attempt when flowrun was killed still
// waits until that attempt was due, in a nested graph too, and has the same number of
// attempts left.
func TestRetrySurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flaky := dag.Node{ID: "flaky", Runner: tryBy(fail, fail, ok), Policy: dag.Policy{Attempts: 2, Backoff: dag.Backoff{Delay: time.Hour}}}
		bind := func(context.Context, *dag.Call) (dag.Args, error) { return "inner", nil }
		g := graph(t, dag.Settings{}, flaky, dag.Node{ID: "nest", Graph: graph(t, dag.Settings{}, flaky), Bind: bind})
		j := &cutJournal{lives: 3} // up to the first tries' ends; the fourth turn is that of the cancel
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if _, err := dag.Run(ctx, g, nil, dag.Options{ID: "run", Journal: j}); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		state, rest := j.carry(t, g, dag.Rules{})
		if got := fmt.Sprint(rest.Waiting); got != "[flaky nest/flaky]" {
			t.Fatalf("%s wait for their next try", got)
		}
		time.Sleep(20 * time.Minute)
		tells(t, t.Context(), g, dag.Options{ID: "run", Carry: state, Opening: []dag.Event{{Kind: dag.RunResumed, Reset: rest.Reset}}}, `
			0s run.resumed
			30m0s step.started flaky try 2
			30m0s step.started nest/flaky try 2
			30m0s step.retrying flaky failed (exit)
			30m0s step.retrying nest/flaky failed (exit)
			2h30m0s step.started flaky try 3
			2h30m0s step.started nest/flaky try 3
			2h30m0s step.finished flaky succeeded
			2h30m0s step.finished nest/flaky succeeded
			2h30m0s step.finished nest succeeded
			2h30m0s run.finished succeeded
		`)
	})
}

// TestArgumentsTooLate: after a resume the arguments of what ran are computed again. If everything in it has ended before
// they are known, they are of no use to anybody, and to the next attempt least.
func TestArgumentsTooLate(t *testing.T) {
	// known returns when the arguments of the second attempt are asked for, and never for those of the first.
	known := func(ctx context.Context, c *dag.Call) error {
		if c.Path == "outer/inner" {
			<-ctx.Done()
		}
		return ctx.Err()
	}
	work := dag.Node{ID: "x", Runner: sleeps(time.Minute)}
	loop := func(wait func(context.Context, *dag.Call) error) dag.Node {
		return loopOver("inner", dag.Each{Item: dag.Node{Runner: work.Runner}, Items: func(ctx context.Context, c *dag.Call) (dag.Items, error) {
			return over{[]string{"x"}, true}, wait(ctx, c)
		}})
	}
	nested := func(wait func(context.Context, *dag.Call) error) dag.Node {
		return dag.Node{ID: "inner", Graph: graph(t, dag.Settings{}, work), Bind: func(ctx context.Context, c *dag.Call) (dag.Args, error) {
			return "inner", wait(ctx, c)
		}}
	}
	for name, inner := range map[string]func(func(context.Context, *dag.Call) error) dag.Node{"loop": loop, "graph": nested} {
		synctest.Test(t, func(t *testing.T) {
			outer := func(wait func(context.Context, *dag.Call) error) *dag.Graph {
				return graph(t, dag.Settings{}, dag.Node{ID: "outer", Graph: graph(t, dag.Settings{}, inner(wait)), Policy: dag.Policy{Attempts: 1}})
			}
			first := outer(func(context.Context, *dag.Call) error { return nil })
			ends := 0
			s := interrupted(t, first, outer(known), map[dag.ID]bool{"outer/inner[x]": true, "outer/inner/x": true}, dag.SinkFunc(func(e dag.Event) {
				if e.Kind == dag.StepFinished && e.Node == "outer/inner" {
					ends++
				}
			}))
			if r := s.Result(); ends != 1 || r.Status != dag.Succeeded {
				t.Errorf("%s: the first attempt ends %d times, and the second one is %s %s", name, ends, r.Status, r.Message)
			}
		})
	}
}

// tryBy is a runner whose n-th try gives the n-th result.
func tryBy(rs ...dag.Result) dag.Runner {
	return runner(func(_ context.Context, c *dag.Call) (dag.Result, error) { return rs[c.Attempt-1], nil })
}

// TestRemainder: which results are kept and which steps run again, for every way in which a
// run can stop.
func TestRemainder(t *testing.T) {
	needs := func(id string, r dag.Runner, after ...dag.ID) dag.Node {
		return dag.Node{ID: dag.ID(id), Runner: r, After: after}
	}
	tolerated := needs("b", answers(fail), "a")
	tolerated.Policy.Tolerate = true
	handler := needs("c", answers(ok), "b")
	handler.When = &dag.When{Uses: dag.UsesOutcome, Eval: func(v dag.View) (bool, error) { return v.Tainted(), nil }}
	destroy := needs("c", answers(ok), "b")
	destroy.When = always
	aside := needs("c", answers(ok), "a", "b")
	aside.When, aside.Cleanup = always, true
	for _, tc := range []struct {
		name  string
		nodes []dag.Node
		from  []dag.ID
		want  string
	}{
		{"all went well", []dag.Node{needs("a", answers(ok))}, nil, "kept [a]"},
		{"a failure and what it skipped", []dag.Node{needs("a", answers(ok)), needs("b", answers(fail), "a"), needs("c", answers(ok), "b"), needs("d", answers(ok), "a")}, nil,
			"reset [b c] kept [a d]"},
		{"a tolerated failure", []dag.Node{needs("a", answers(ok)), tolerated, needs("c", answers(ok), "b")}, nil, "kept [a b c]"},
		{"a step sent back", []dag.Node{needs("a", answers(ok)), needs("b", answers(ok), "a"), needs("c", answers(ok), "b")}, []dag.ID{"b"}, "reset [b c] kept [a]"},
		{"a handler that ran", []dag.Node{needs("a", answers(ok)), needs("b", answers(fail), "a"), handler}, nil, "reset [b c] kept [a]"},
		{"something was destroyed", []dag.Node{needs("a", answers(ok)), needs("b", answers(fail), "a"), destroy}, nil, "reset [b c] kept [a] cleaned [{a c}]"},
		{"the cleanup has run", []dag.Node{needs("a", answers(ok)), needs("b", answers(fail), "a"), aside}, nil, "reset [b c] kept [a] cleaned [{a c}]"},
		{"inside a nested graph", []dag.Node{needs("x", answers(ok)), {ID: "n", After: []dag.ID{"x"}, Graph: graph(t, dag.Settings{}, needs("a", answers(ok)), needs("b", answers(fail), "a"))}, needs("z", answers(ok), "n")}, nil,
			"reset [n/b z] kept [x n/a]"},
		{"a nested graph sent back", []dag.Node{{ID: "n", Graph: graph(t, dag.Settings{}, needs("a", answers(ok)))}, needs("z", answers(ok), "n")}, []dag.ID{"n"}, "reset [n z]"},
		{"one inside a nested graph that ended well", []dag.Node{{ID: "n", Graph: graph(t, dag.Settings{}, needs("a", answers(ok)), needs("b", answers(ok)))}, needs("z", answers(ok), "n")}, []dag.ID{"n/b"},
			"reset [n/b z] kept [n/a]"},
		{"a failure nobody minds inside", []dag.Node{{ID: "n", Policy: dag.Policy{Tolerate: true}, Graph: graph(t, dag.Settings{}, needs("a", answers(fail)))}}, nil, "kept [n]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := graph(t, dag.Settings{}, tc.nodes...)
			j := &cutJournal{lives: 1000}
			if _, err := dag.Run(t.Context(), g, nil, dag.Options{ID: "run", Journal: j}); err != nil {
				t.Fatal(err)
			}
			_, r := j.carry(t, g, dag.Rules{From: tc.from})
			var words []string
			for _, part := range []struct {
				name string
				ids  []dag.ID
			}{{"reset", r.Reset}, {"left", r.Left}, {"waiting", r.Waiting}, {"interrupted", r.Interrupted}, {"kept", r.Kept}} {
				if len(part.ids) > 0 {
					words = append(words, fmt.Sprintf("%s %v", part.name, part.ids))
				}
			}
			if len(r.Cleaned) > 0 {
				words = append(words, fmt.Sprintf("cleaned %v", r.Cleaned))
			}
			if got := strings.Join(words, " "); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// TestDurableStart: no attempt of a node with DurableStart starts, and no run ends, before
// the journal is durable.
func TestDurableStart(t *testing.T) {
	j := &cutJournal{lives: 1000}
	var begun []int
	pay := dag.Node{ID: "pay", DurableStart: true, After: []dag.ID{"a"}, Policy: dag.Policy{Attempts: 1}, Runner: runner(func(_ context.Context, c *dag.Call) (dag.Result, error) {
		begun = append(begun, j.synced[len(j.synced)-1])
		return dag.Result{ExitCode: 2 - c.Attempt}, nil
	})}
	g := graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: answers(ok)}, pay)
	if _, err := dag.Run(t.Context(), g, nil, dag.Options{ID: "run", Journal: j}); err != nil {
		t.Fatal(err)
	}
	var want []int
	for i, e := range j.events {
		if e.Kind == dag.StepStarted && e.Node == "pay" {
			want = append(want, i+1)
		}
	}
	if diff := cmp.Diff(want, begun); diff != "" {
		t.Errorf("events that were durable when a try began:\n%s", diff)
	}
	if !slices.Equal(j.synced, append(want, len(j.events))) {
		t.Errorf("synced after %v of %d events, want only before the tries %v and at the end", j.synced, len(j.events), want)
	}
}

// TestRemainderOfResumed: if flowrun is killed directly after it resumed a run, the same
// steps are left to do.
func TestRemainderOfResumed(t *testing.T) {
	g := graph(t, dag.Settings{}, dag.Node{ID: "provision", Runner: answers(ok)},
		dag.Node{ID: "test", Runner: answers(fail), After: []dag.ID{"provision"}},
		dag.Node{ID: "destroy", Runner: answers(ok), After: []dag.ID{"test"}, When: always})
	j := &cutJournal{lives: 1000}
	if _, err := dag.Run(t.Context(), g, nil, dag.Options{ID: "run", Journal: j}); err != nil {
		t.Fatal(err)
	}
	_, first := j.carry(t, g, dag.Rules{})
	j.events = append(j.events, dag.Event{Kind: dag.RunResumed, Reset: first.Reset})
	_, second := j.carry(t, g, dag.Rules{})
	if first.EndMissing || !second.EndMissing {
		t.Errorf("the run has not ended: %v before, %v after", first.EndMissing, second.EndMissing)
	}
	first.EndMissing = second.EndMissing
	if diff := cmp.Diff(first, second); diff != "" || len(second.Cleaned) != 1 {
		t.Errorf("(-before +after): %s", diff)
	}
}
