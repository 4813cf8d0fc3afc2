package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// gpu returns a demand for slots of a pool.
func gpu(count, slots int) history.LockDemand {
	return history.LockDemand{Kind: history.DemandPool, Name: "gpu", Slots: slots, Count: count}
}

// stepAdmission is a step that called Admit.
type stepAdmission struct {
	t      *testing.T
	step   string
	ledger history.Ledger
	done   chan error
	cancel context.CancelCauseFunc
}

// enqueueStep has a step call Admit, and waits until it was admitted or notified.
func enqueueStep(t *testing.T, l history.Ledger, step string, priority int, demands ...history.LockDemand) *stepAdmission {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	a := &stepAdmission{t, step, l, make(chan error, 1), cancel}
	heard := make(chan struct{}, 1)
	note := func() {
		select {
		case heard <- struct{}{}:
		default:
		}
	}
	go func() {
		a.done <- l.Admit(ctx, history.Admission{Step: step, Demands: demands, Priority: priority, Notify: func(q history.QueuePosition) {
			if q.Step != step || len(q.Obstacles) == 0 {
				t.Errorf("step %s gets %+v", step, q)
			}
			note()
		}})
		note()
	}()
	t.Cleanup(func() { cancel(errCancelled) })
	select {
	case <-heard:
	case <-time.After(waittest.Limit):
		t.Fatalf("step %s is neither queued nor admitted", step)
	}
	return a
}

func (a *stepAdmission) result() error {
	a.t.Helper()
	select {
	case err := <-a.done:
		return err
	case <-time.After(waittest.Limit):
		a.t.Fatalf("step %s is still queued", a.step)
		return nil
	}
}

func (a *stepAdmission) mustBeAdmitted() {
	a.t.Helper()
	if err := a.result(); err != nil {
		a.t.Fatalf("step %s: %v", a.step, err)
	}
}

func (a *stepAdmission) mustWait() {
	a.t.Helper()
	select {
	case err := <-a.done:
		a.t.Fatalf("step %s does not wait: %v", a.step, err)
	default:
	}
}

func (a *stepAdmission) leave() {
	a.t.Helper()
	if err := a.ledger.Leave(a.step); err != nil {
		a.t.Fatal(err)
	}
}

// Steps of runs share pools and locks with each other and with runs. Their runs are running.
func testQueueSteps(t *testing.T, s history.Store) {
	a, b := begin(t, s, record("a", "deploy")), begin(t, s, record("b", "deploy"))
	one := enqueueStep(t, a, "one", 0, gpu(2, 3))
	one.mustBeAdmitted()
	two := enqueueStep(t, a, "two", 0, gpu(2, 3), lock("db", 1))
	three := enqueueStep(t, b, "three", 0, gpu(1, 3)) // there is a slot, but two asked earlier
	other := enqueueStep(t, b, "other", 0, lock("db", 1))
	urgent := enqueueStep(t, b, "urgent", 5, gpu(1, 3)) // is first, and there is a slot
	urgent.mustBeAdmitted()
	checkQueue(t, s, "a* a b b b*")
	for _, id := range []string{"a", "b"} {
		if i := info(t, s, id); i.Status != dag.Running {
			t.Errorf("run %s is %v, want running", id, i.Status)
		}
	}
	three.mustWait()
	other.mustWait() // behind two, which waits for the lock as well
	two.cancel(errCancelled)
	want(t, two.result(), errCancelled)
	other.mustBeAdmitted()
	three.mustWait()
	urgent.leave()
	three.mustBeAdmitted()
	one.leave()
	again := enqueueStep(t, a, "one", 0, gpu(2, 3)) // its next attempt
	again.mustBeAdmitted()
	run := enqueue(t, s, "c", lock("db", 1)) // a run, for a lock that a step holds
	run.mustWait(s)
	want(t, b.Close(), nil)
	run.mustBeAdmitted()
	checkQueue(t, s, "a* c*")
	queue, err := s.Queue(context.Background())
	if err != nil || queue[0].Step != "one" || queue[0].Demands[0] != gpu(2, 3) || queue[1].Step != "" {
		t.Errorf("%+v, %v", queue, err)
	}
}

// What steps of dead owners held is free.
func testQueueStepsDeath(t *testing.T, s history.Store) {
	lapser, ok := s.(Lapser)
	if !ok {
		t.Skip("an owner cannot lose a run of this store")
	}
	a, b := begin(t, s, record("a", "deploy")), begin(t, s, record("b", "deploy"))
	enqueueStep(t, a, "one", 0, gpu(1, 1)).mustBeAdmitted()
	two := enqueueStep(t, b, "two", 0, gpu(1, 1))
	two.mustWait()
	lapser.Lapse(t, "a")
	two.mustBeAdmitted()
	checkQueue(t, s, "b*")
}

// A pool with a rate lets only so many start in a time, also after all have left.
func testQueueRate(t *testing.T, s history.Store) {
	l := begin(t, s, record("a", "deploy"))
	paced := history.LockDemand{Kind: history.DemandPool, Name: "api", Slots: 9, Rate: history.Rate{N: 2, Per: 600 * time.Millisecond}}
	started := time.Now()
	for i, atLeast := range []time.Duration{0, 0, 300 * time.Millisecond, 600 * time.Millisecond} {
		one := enqueueStep(t, l, "one", 0, paced)
		one.mustBeAdmitted()
		one.leave()
		if took := time.Since(started); took < atLeast {
			t.Errorf("start %d comes after %v, want at least %v", i+1, took, atLeast)
		}
	}
	checkQueue(t, s, "")
}
