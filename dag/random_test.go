package dag

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// scriptGen draws graphs of up to 40 steps: nested ones, joins, conditions, retries,
// fallbacks and tolerated failures.
func scriptGen() *rapid.Generator[[]step] {
	return rapid.Custom(func(t *rapid.T) []step {
		left := rapid.IntRange(1, 40).Draw(t, "steps")
		return drawSteps(t, &left, 3)
	})
}

func drawSteps(t *rapid.T, left *int, depth int) []step {
	n := rapid.IntRange(0, 12).Draw(t, "n")
	if depth == 3 {
		n = *left
	}
	steps := []step{} // not nil: an empty nested graph is a nested graph
	for i := 0; i < n && *left > 0; i++ {
		*left--
		st := step{id: fmt.Sprintf("s%d", i)}
		for range min(i, rapid.IntRange(0, 3).Draw(t, "edges")) {
			up := steps[rapid.IntRange(0, i-1).Draw(t, "after")].id
			if !slices.Contains(st.after, up) {
				st.after = append(st.after, up)
			}
		}
		switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case kind == 0 && i > 0:
			st.join = true
		case kind <= 2 && depth > 0:
			drawPolicy(t, &st)
			st.bind = rapid.SampledFrom([]string{"", "ok", "ok", "refused"}).Draw(t, "bind")
			st.inner = drawSteps(t, left, depth-1)
		default:
			drawPolicy(t, &st)
			st.tries = rapid.SliceOfN(rapid.SampledFrom([]string{"ok", "ok", "fail", "timeout", "permanent", "reused"}), 1, 3).Draw(t, "tries")
		}
		steps = append(steps, st)
	}
	return steps
}

func drawPolicy(t *rapid.T, st *step) {
	some := rapid.Bool()
	if some.Draw(t, "conditional") {
		st.when = rapid.SampledFrom(conditions).Draw(t, "when").name
	}
	if some.Draw(t, "retry") {
		st.retries = rapid.IntRange(0, 3).Draw(t, "retries")
		st.delay = time.Duration(rapid.IntRange(0, 2).Draw(t, "delay")) * time.Second
	}
	if some.Draw(t, "fallback") {
		st.fallback = rapid.SampledFrom([]string{"ok", "fail", "timeout"}).Draw(t, "fallback")
	}
	st.tolerate = rapid.IntRange(0, 3).Draw(t, "tolerate") == 0
}

// anyOrder lets workers report in an order that rapid chooses.
func anyOrder(t *rapid.T) func(int) int {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "reports next") }
}

// TestEveryInterleaving: whatever the order of reports and however few the slots, a
// run ends as the rules say; the driver holds every start against the rules.
func TestEveryInterleaving(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := scriptGen().Draw(t, "script")
		want, total := oracle(steps, "", false)
		g := graphOf(t, steps, Settings{})
		d := newDriver(t, g, rapid.IntRange(1, 8).Draw(t, "slots"), anyOrder(t))
		d.run()
		if diff := cmp.Diff(want, states(d.state)); diff != "" {
			t.Fatalf("end states (-rules +driver):\n%s", diff)
		}
		if got := d.state.Result().Status.String(); got != total {
			t.Fatalf("the run ends %s, want %s", got, total)
		}
		if diff := cmp.Diff(want, states(replay(t, g, d.log))); diff != "" {
			t.Fatalf("replayed (-rules +replay):\n%s", diff)
		}
	})
}

// TestCarryOn: a State that was read back from any beginning of a journal can go on
// in place of the one that wrote it.
func TestCarryOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := scriptGen().Draw(t, "script")
		want, _ := oracle(steps, "", false)
		g := graphOf(t, steps, Settings{})
		d := newDriver(t, g, rapid.IntRange(1, 8).Draw(t, "slots"), anyOrder(t))
		crash := rapid.IntRange(1, 60).Draw(t, "crash in turn")
		d.turns = func(turn int) {
			if turn == crash {
				d.resume(replay(t, g, d.log))
				d.decide()
			}
		}
		d.run()
		if diff := cmp.Diff(want, states(d.state)); diff != "" {
			t.Fatalf("end states (-rules +driver):\n%s", diff)
		}
	})
}

// TestCancelAnywhere: a run that is cancelled at any moment ends, with every step
// settled, and replays to the same states.
func TestCancelAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := scriptGen().Draw(t, "script")
		g := graphOf(t, steps, Settings{FailFast: rapid.Bool().Draw(t, "fail-fast")})
		d := newDriver(t, g, rapid.IntRange(1, 8).Draw(t, "slots"), anyOrder(t))
		when := rapid.IntRange(1, 60).Draw(t, "cancel in turn")
		d.turns = func(turn int) {
			if turn == when && d.state.result == nil {
				d.cancel()
				d.decide()
			}
		}
		d.run()
		d.state.All(func(path ID, _ *Node, st Status, _ *Result) {
			if !st.Settled() {
				t.Fatalf("%s ends %s", path, st)
			}
		})
		if diff := cmp.Diff(states(d.state), states(replay(t, g, d.log))); diff != "" {
			t.Fatalf("end states (-driver +replay):\n%s", diff)
		}
	})
}

// TestRunAnyGraph: Run comes to the same end with real workers, never uses more
// slots than there are, and its events tell the whole story.
func TestRunAnyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := scriptGen().Draw(t, "script")
		want, total := oracle(steps, "", false)
		slots := rapid.IntRange(1, 8).Draw(t, "slots")
		var running, most atomic.Int32
		nodes := nodesOf(t, steps)
		watch(nodes, &running, &most)
		g, err := New(nodes, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		var log []Event
		shared := NewSlots(slots)
		s, err := Run(context.Background(), g, nil, Options{ID: "run", Slots: shared,
			Sinks: []Sink{SinkFunc(func(e Event) { log = append(log, e) })}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, states(s)); diff != "" {
			t.Fatalf("end states (-rules +Run):\n%s", diff)
		}
		if got := s.Result().Status.String(); got != total {
			t.Fatalf("the run ends %s, want %s", got, total)
		}
		if int(most.Load()) > slots {
			t.Fatalf("%d leaves ran at once with %d slots", most.Load(), slots)
		}
		if shared.free != slots || len(shared.queue) > 0 {
			t.Fatalf("%d slots are free afterwards and %d runs queue, want %d and none", shared.free, len(shared.queue), slots)
		}
		if diff := cmp.Diff(want, states(replay(t, g, log))); diff != "" {
			t.Fatalf("replayed (-rules +replay):\n%s", diff)
		}
	})
}

// watch counts how many runners of the nodes run at once, nested ones too, and takes
// the waits out of them.
func watch(nodes []Node, running, most *atomic.Int32) {
	counted := func(r Runner) Runner {
		return RunnerFunc(func(ctx context.Context, c *Call) (Result, error) {
			now := running.Add(1)
			defer running.Add(-1)
			for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
			}
			return r.Run(ctx, c)
		})
	}
	for i := range nodes {
		n := &nodes[i]
		n.Policy.Backoff = Backoff{} // this clock is real
		if n.Runner != nil {
			n.Runner = counted(n.Runner)
		}
		if n.Policy.Fallback != nil {
			n.Policy.Fallback = counted(n.Policy.Fallback)
		}
		if n.Graph != nil {
			watch(n.Graph.nodes, running, most)
		}
	}
}
