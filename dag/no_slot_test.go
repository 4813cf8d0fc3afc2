package dag_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// TestNoSlotHoldsNoSlot: a node with NoSlot starts although nodes before it wait for a
// slot, and holds none; its fallback needs a slot.
func TestNoSlotHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outcomes := answers(fail, ok)
		late := runner(func(ctx context.Context, c *dag.Call) (dag.Result, error) { // x fails first
			time.Sleep(time.Second)
			return outcomes.Run(ctx, c)
		})
		g := graph(t, dag.Settings{},
			dag.Node{ID: "a", Runner: sleeps(10 * time.Second)},
			dag.Node{ID: "b", Runner: sleeps(time.Second)},
			dag.Node{ID: "w", NoSlot: true, Runner: sleeps(2 * time.Second)},
			dag.Node{ID: "x", NoSlot: true, Runner: answers(fail), Policy: dag.Policy{Fallback: sleeps(time.Second)}},
			dag.Node{ID: "y", NoSlot: true, Runner: late, Policy: dag.Policy{Attempts: 1, Backoff: dag.Backoff{Delay: 3 * time.Second}}})
		tells(t, t.Context(), g, dag.Options{Slots: dag.NewSlots(1)}, `
			0s run.started
			0s step.started w
			0s step.started x
			0s step.started y
			0s step.started a
			0s step.fallback x failed (exit)
			1s step.retrying y failed (exit)
			2s step.finished w succeeded
			4s step.started y try 2
			5s step.finished y succeeded
			10s step.finished a succeeded
			11s step.finished x succeeded
			11s step.started b
			12s step.finished b succeeded
			12s run.finished succeeded
		`)
	})
}

// TestNoSlotFallbackIsCancelled: a fallback that waits for its slot ends with a cancel, and
// never runs.
func TestNoSlotFallbackIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := graph(t, dag.Settings{Timeout: 5 * time.Second},
			dag.Node{ID: "w", NoSlot: true, Runner: answers(fail), Policy: dag.Policy{Fallback: answers(ok)}})
		g := graph(t, dag.Settings{},
			dag.Node{ID: "long", Runner: sleeps(time.Hour)},
			dag.Node{ID: "a", Graph: inner})
		tells(t, t.Context(), g, dag.Options{Slots: dag.NewSlots(1)}, `
			0s run.started
			0s step.started long
			0s step.started a
			0s step.started a/w
			0s step.fallback a/w failed (exit)
			5s run.cancelling a (timeout)
			5s step.finished a/w cancelled (timeout)
			5s step.finished a timed-out (timeout)
			1h0m0s step.finished long succeeded
			1h0m0s run.finished failed (timeout)
		`)
	})
}

// TestManyNoSlot: ten thousand nodes with NoSlot run at the same time with one slot.
func TestManyNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 10_000
		var at, most atomic.Int32
		nodes := make([]dag.Node, many)
		for i := range nodes {
			nodes[i] = dag.Node{ID: dag.ID(fmt.Sprintf("w%d", i)), NoSlot: true,
				Runner: dag.RunnerFunc(func(context.Context, *dag.Call) (dag.Result, error) {
					most.Store(max(most.Load(), at.Add(1)))
					time.Sleep(time.Minute)
					at.Add(-1)
					return dag.Result{}, nil
				})}
		}
		began := time.Now()
		runs(t, graph(t, dag.Settings{}, nodes...), dag.Options{Slots: dag.NewSlots(1)})
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it took %v, and %d were active at once", took, most.Load())
		}
	})
}

// slowOnce is a journal whose first record of the end of a step takes a while.
type slowOnce struct{ done bool }

func (j *slowOnce) Append(_ context.Context, events []dag.Event) error {
	if !j.done && events[len(events)-1].Kind == dag.StepFinished {
		j.done = true
		time.Sleep(time.Hour)
	}
	return nil
}

func (*slowOnce) Sync(context.Context) error { return nil }

// TestManyReports: if more steps have ended than a turn records, the loop still decides
// what follows.
func TestManyReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 10_000
		first := dag.Node{ID: "first", NoSlot: true, Runner: sleeps(time.Second)}
		last := dag.Node{ID: "last", Runner: answers(ok)}
		nodes := []dag.Node{first}
		for i := range many {
			n := dag.Node{ID: dag.ID(fmt.Sprintf("w%d", i)), NoSlot: true, Runner: sleeps(time.Minute)}
			nodes, last.After = append(nodes, n), append(last.After, n.ID)
		}
		s := runs(t, graph(t, dag.Settings{}, append(nodes, last)...), dag.Options{Journal: new(slowOnce)})
		if got := s.Status("last"); got != dag.Succeeded {
			t.Errorf("the last step is %v", got)
		}
	})
}
