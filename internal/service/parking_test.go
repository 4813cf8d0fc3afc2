package service

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// TestParking checks how long a run is left to people, and why.
func TestParking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &Parking{runs: map[string]parkedRun{}}
		missing := errors.New("a secret is missing")
		p.park(history.RunInfo{ID: "a"}, missing)
		p.park(history.RunInfo{ID: "loop"}, errCrashLoop)
		if !p.holds("a") || !p.holds("loop") || p.holds("b") || p.NeedsPerson("b") {
			t.Error("the wrong runs are left to people")
		}
		if p.Why("a") != missing || p.Why("b") != nil {
			t.Errorf("the reasons are %v and %v", p.Why("a"), p.Why("b"))
		}
		time.Sleep(resumeRetryDelay)
		if p.holds("a") || !p.NeedsPerson("a") {
			t.Error("it is not resumed again, or is no longer left to people")
		}
		if !p.holds("loop") {
			t.Error("a run that crashes its service is resumed again")
		}
		p.keepOnly(map[string]bool{"a": true})
		if p.NeedsPerson("loop") || !p.NeedsPerson("a") {
			t.Error("the wrong run is forgotten")
		}
	})
}

// TestAdoptions checks what counts as a crash of the service: a run that was resumed, and no step of it has ended since.
func TestAdoptions(t *testing.T) {
	t.Parallel()
	now := time.Now()
	resumed, old := dag.Event{Kind: dag.RunResumed, Time: now}, dag.Event{Kind: dag.RunResumed, Time: now.Add(-2 * adoptionWindow)}
	step := dag.Event{Kind: dag.StepFinished, Time: now}
	for want, events := range map[int][]dag.Event{0: {resumed, step}, 1: {old, resumed}, 2: {resumed, step, resumed, resumed}} {
		if n := adoptions(events, now.Add(-adoptionWindow)); n != want {
			t.Errorf("%d adoptions, want %d", n, want)
		}
	}
	stop, part := dag.Event{Kind: dag.RunCancelling, Reason: dag.ReasonCancelled}, dag.Event{Kind: dag.RunCancelling, Reason: dag.ReasonCancelled, Node: "a"}
	if !cancelled([]dag.Event{resumed, stop}) || cancelled([]dag.Event{stop, resumed}) || cancelled([]dag.Event{part}) {
		t.Error("the wrong runs count as being cancelled")
	}
}
