package dag

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestQueued checks that a step counts the time in which it waited for a slot, and not that in which its run was queued.
func TestQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleep := RunnerFunc(func(context.Context, *Call) (Result, error) {
			time.Sleep(2 * time.Second)
			return Result{}, nil
		})
		g, err := New([]Node{{ID: "a", Runner: sleep}, {ID: "b", Runner: sleep}}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		queued := map[ID]time.Duration{}
		note := SinkFunc(func(e Event) {
			if e.Kind == RunStarted || e.Kind == StepStarted {
				queued[e.Node] = e.Queued
			}
		})
		s, err := Run(t.Context(), g, nil, Options{Slots: NewSlots(1), Sinks: []Sink{note}, Since: time.Now().Add(-time.Minute)})
		if err != nil || s.Result().Took() != time.Minute+4*time.Second {
			t.Errorf("%v, the run took %v", err, s.Result().Took())
		}
		if queued[""] != time.Minute || queued["a"] != 0 || queued["b"] != 2*time.Second {
			t.Errorf("queued: %v", queued)
		}
	})
}
