package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/runresult"
)

// TestClockOpensLate: a clock that looks at a run only once something waits finds the same times as one that has
// seen all events from the start.
func TestClockOpensLate(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	wait := &dag.Result{Status: dag.Waiting, Started: at(4), Wait: &dag.Wait{Kind: "time"}}
	events := []dag.Event{
		{Kind: dag.RunStarted, Time: at(2), Queued: time.Second},
		{Kind: dag.StepStarted, Node: "done", Attempt: 1, Time: at(2)},
		{Kind: dag.StepFinished, Node: "done", Time: at(3), Result: &dag.Result{Status: dag.Succeeded, Started: at(2), Ended: at(3)}},
		{Kind: dag.StepStarted, Node: "group", Attempt: 1, Time: at(3)},
		{Kind: dag.StepStarted, Node: "group/gate", Attempt: 1, Time: at(4)},
		{Kind: dag.StepStarted, Node: "tried", Attempt: 1, Time: at(4)},
		{Kind: dag.StepRetrying, Node: "tried", Time: at(5), Due: at(8), Result: &dag.Result{Status: dag.Failed, Started: at(4), Ended: at(5)}},
		{Kind: dag.StepWaiting, Node: "group/gate", Time: at(6), Result: wait},
		{Kind: dag.StepStarted, Node: "tried", Attempt: 2, Time: at(8)},
		{Kind: dag.StepFinished, Node: "tried", Time: at(9), Result: &dag.Result{Status: dag.Succeeded, Started: at(4), Ended: at(9)}},
	}
	late, early := newClock(), clockOf(events)
	for _, e := range events {
		late.Emit(e)
	}
	times := func(c *clock) runresult.Result {
		r := runresult.Result{Status: dag.Interrupted, Steps: []runresult.StepResult{{ID: "done", Status: dag.Succeeded, Started: at(2), Ended: at(3)},
			{ID: "group", Status: dag.Running}, {ID: "group/gate", Status: dag.Waiting}, {ID: "tried", Status: dag.Succeeded, Started: at(4), Ended: at(9)}}}
		c.set(&r, at(1), at(20))
		return r
	}
	got, want := times(late), times(early)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(runresult.Result{}, runresult.StepResult{})); diff != "" {
		t.Errorf("(-from the start +late):\n%s", diff)
	}
	if got.Duration() != 19*time.Second || got.Waited != 11*time.Second || got.Step("group").Waited != 14*time.Second {
		t.Errorf("the run took %v and waited %v, its group waited %v", got.Duration(), got.Waited, got.Step("group").Waited)
	}
}
