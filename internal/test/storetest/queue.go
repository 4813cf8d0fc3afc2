package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// lock returns a demand for a lock.
func lock(name string, slots int) history.LockDemand {
	return history.LockDemand{Kind: history.DemandLock, Name: name, Slots: slots}
}

// admission is a run that called Admit.
type admission struct {
	t       *testing.T
	id      string
	ledger  history.Ledger
	cancel  context.CancelCauseFunc
	reports chan history.QueuePosition
	done    chan error
}

var errCancelled = errors.New("enough")

// enqueue starts a run and has it call Admit. It returns when the run has been admitted or
// has been notified that it waits, so that the runs join the queue in the order of the
// calls.
func enqueue(t *testing.T, s history.Store, id string, demands ...history.LockDemand) *admission {
	t.Helper()
	return enqueueLedger(t, begin(t, s, record(id, "deploy")), id, demands...)
}

func enqueueLedger(t *testing.T, l history.Ledger, id string, demands ...history.LockDemand) *admission {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	a := &admission{t, id, l, cancel, make(chan history.QueuePosition, 10_000), make(chan error, 1)}
	first, heard := make(chan struct{}), sync.Once{}
	go func() {
		err := l.Admit(ctx, history.Admission{Demands: demands, Notify: func(q history.QueuePosition) {
			a.reports <- q
			heard.Do(func() { close(first) })
		}})
		a.done <- err
		heard.Do(func() { close(first) })
	}()
	t.Cleanup(func() { cancel(errCancelled) })
	select {
	case <-first:
	case <-time.After(waittest.Limit):
		t.Fatalf("run %s is neither queued nor admitted", id)
	}
	return a
}

// mustBeAdmitted waits until the run is admitted.
func (a *admission) mustBeAdmitted() {
	a.t.Helper()
	if err := a.result(); err != nil {
		a.t.Fatalf("run %s: %v", a.id, err)
	}
}

// result waits until Admit returns.
func (a *admission) result() error {
	a.t.Helper()
	select {
	case err := <-a.done:
		return err
	case <-time.After(waittest.Limit):
		a.t.Fatalf("run %s is still queued", a.id)
		return nil
	}
}

// mustWait fails the test unless the Store reports the run as pending.
func (a *admission) mustWait(s history.Store) {
	a.t.Helper()
	if i := info(a.t, s, a.id); i.Status != dag.Pending {
		a.t.Fatalf("run %s is %v, want pending", a.id, i.Status)
	}
}

// waitForReport waits until the run is notified of a position that is accepted.
func (a *admission) waitForReport(what string, is func(history.QueuePosition) bool) {
	a.t.Helper()
	for end := time.After(waittest.Limit); ; {
		select {
		case q := <-a.reports:
			if is(q) {
				return
			}
		case <-end:
			a.t.Fatalf("run %s was not informed: %s", a.id, what)
		}
	}
}

func (a *admission) close() {
	a.t.Helper()
	if err := a.ledger.Close(); err != nil {
		a.t.Fatal(err)
	}
}

// queueText returns the queue of the Store as one word for each run: a* holds, b waits.
func queueText(t *testing.T, s history.Store) string {
	t.Helper()
	queue, err := s.Queue(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, p := range queue {
		word := p.Run
		if p.Held {
			word += "*"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func checkQueue(t *testing.T, s history.Store, want string) {
	t.Helper()
	if got := queueText(t, s); got != want {
		t.Errorf("the queue is %q, want %q", got, want)
	}
}

// One run holds a lock. The next waits, is notified of the holder, and starts when that
// ends.
func testQueue(t *testing.T, s history.Store) {
	ctx := context.Background()
	none := enqueue(t, s, "r0")
	none.mustBeAdmitted()
	checkQueue(t, s, "")

	a := enqueue(t, s, "a", lock("db", 1))
	a.mustBeAdmitted()
	if i := info(t, s, "a"); i.Status != dag.Running {
		t.Error("the status of the lock holder is", i.Status)
	}
	b := enqueue(t, s, "b", lock("db", 1))
	c := enqueue(t, s, "c", lock("db", 1))
	checkQueue(t, s, "a* b c")
	queue, err := s.Queue(ctx)
	if err != nil || queue[1].PID != os.Getpid() || queue[1].Since.IsZero() || !cmp.Equal(queue[1].Demands, []history.LockDemand{lock("db", 1)}) {
		t.Errorf("%+v, %v", queue, err)
	}
	b.waitForReport("who holds the lock", func(q history.QueuePosition) bool {
		o := q.Obstacles[0]
		return q.Run == "b" && !q.Since.IsZero() && o.Name == "db" && o.Ahead == 0 && len(o.Holders) == 1 && o.Holders[0].Run == "a" && o.Holders[0].PID == os.Getpid()
	})
	c.waitForReport("the run ahead of it", func(q history.QueuePosition) bool { return q.Obstacles[0].Ahead == 1 && q.Obstacles[0].Behind == "b" })
	i := info(t, s, "b")
	if i.Status != dag.Pending || i.Reason != "lock" || !strings.Contains(i.Message, "lock db, held by run a (pid ") || !i.Started.Equal(runStart) {
		t.Errorf("%+v", i)
	}
	for _, q := range []struct {
		states []dag.Status
		want   string
	}{
		{[]dag.Status{dag.Pending}, "c b"},
		{[]dag.Status{dag.Running}, "a r0"},
		{[]dag.Status{dag.Pending, dag.Running}, "c b a r0"},
		{[]dag.Status{dag.Interrupted}, ""},
	} {
		list, err := s.Runs(ctx, history.Query{Status: q.states})
		var ids []string
		for _, i := range list {
			ids = append(ids, i.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != q.want {
			t.Errorf("with states %v: %q, %v; want %q", q.states, got, err, q.want)
		}
	}
	if list, err := s.Runs(ctx, history.Query{Status: []dag.Status{dag.Pending}, Limit: 1}); err != nil || len(list) != 1 || list[0].Message == "" {
		t.Errorf("%+v, %v", list, err)
	}

	a.close()
	b.mustBeAdmitted()
	c.waitForReport("the new holder of the lock", func(q history.QueuePosition) bool {
		return q.Obstacles[0].Ahead == 0 && q.Obstacles[0].Holders[0].Run == "b"
	})
	checkQueue(t, s, "b* c")
	if i := info(t, s, "b"); i.Status != dag.Running || i.Reason != "" {
		t.Errorf("%+v", i)
	}
	b.close()
	c.mustBeAdmitted()
	c.close()
	checkQueue(t, s, "")
}

// testQueueBytes checks that tools whose files differ in bytes that are not UTF-8 are different, and that one is the same.
func testQueueBytes(t *testing.T, s history.Store) {
	demand := func(file string) history.LockDemand {
		return history.LockDemand{Kind: history.DemandActiveRun, Name: "deploy", File: file, Slots: 1}
	}
	first := enqueue(t, s, "a", demand("/\xff/t.yaml"))
	first.mustBeAdmitted()
	enqueue(t, s, "b", demand("/\xfe/t.yaml")).mustBeAdmitted()
	second := enqueue(t, s, "c", demand("/\xff/t.yaml"))
	second.mustWait(s)
	first.close()
	second.mustBeAdmitted()
}

// A run gets all demands or none; first come, first served; and no run waits for others
// with which it has nothing in common.
func testQueueFair(t *testing.T, s history.Store) {
	turn := history.LockDemand{Kind: history.DemandActiveRun, Name: "db", File: "/w/db.yaml", Slots: 1} // a limit of a tool, not a lock
	a := enqueue(t, s, "a", lock("x", 1))
	a.mustBeAdmitted()
	both := enqueue(t, s, "b", lock("x", 1), lock("y", 1)) // waits for x, and does not take y meanwhile
	y := enqueue(t, s, "c", lock("y", 1))                  // free, but b was first
	z := enqueue(t, s, "d", lock("z", 2), turn)
	z.mustBeAdmitted()
	other := enqueue(t, s, "e", history.LockDemand{Kind: history.DemandActiveRun, Name: "db", File: "/v/db.yaml", Slots: 1}, lock("db", 1))
	other.mustBeAdmitted()
	z2, z3 := enqueue(t, s, "f", lock("z", 2)), enqueue(t, s, "g", lock("z", 3)) // the slots in each run's own demand count
	z2.mustBeAdmitted()
	z3.mustBeAdmitted()
	z4 := enqueue(t, s, "h", lock("z", 2))
	z5 := enqueue(t, s, "i", lock("z", 9)) // would fit, but h was first
	checkQueue(t, s, "a* b c d* e* f* g* h i")
	y.mustWait(s)
	y.waitForReport("only the order keeps it waiting", func(q history.QueuePosition) bool {
		o := q.Obstacles[0]
		return o.Name == "y" && len(o.Holders) == 0 && o.Ahead == 1 && o.Behind == "b"
	})
	a.close()
	both.mustBeAdmitted()
	y.mustWait(s)
	both.close()
	y.mustBeAdmitted()
	z.close()
	z4.mustWait(s)
	z5.mustWait(s)
	z2.close()
	z4.mustBeAdmitted()
	z5.mustBeAdmitted()
	checkQueue(t, s, "c* e* g* h* i*")
}

// A run that is cancelled leaves the queue, at any position, and blocks no others.
func testQueueLeave(t *testing.T, s history.Store) {
	ended, stop := context.WithCancelCause(context.Background())
	stop(errCancelled)
	l := begin(t, s, record("r0", "deploy"))
	want(t, l.Admit(ended, history.Admission{Demands: []history.LockDemand{lock("x", 1)}}), errCancelled)
	checkQueue(t, s, "")

	a := enqueue(t, s, "a", lock("x", 1))
	b := enqueue(t, s, "b", lock("x", 1), lock("y", 1))
	c := enqueue(t, s, "c", lock("y", 1))
	d := enqueue(t, s, "d", lock("x", 1))
	b.cancel(errCancelled)
	want(t, b.result(), errCancelled)
	c.mustBeAdmitted()
	checkQueue(t, s, "a* c* d")
	if i := info(t, s, "b"); i.Status != dag.Running { // its owner still has it, to end it
		t.Errorf("%+v", i)
	}
	appendAll(t, b.ledger, end("b", 1, dag.Cancelled))
	if i := info(t, s, "b"); i.Status != dag.Cancelled {
		t.Errorf("%+v", i)
	}
	d.close() // gives up while it waits
	want(t, d.result(), history.ErrFenced)
	checkQueue(t, s, "a* c*")
	if i := info(t, s, "d"); i.Status != dag.Interrupted {
		t.Errorf("%+v", i)
	}
	want(t, a.ledger.Close(), nil)
	checkQueue(t, s, "c*")
	want(t, a.ledger.Admit(context.Background(), history.Admission{Demands: []history.LockDemand{lock("x", 1)}}), history.ErrFenced)
	checkQueue(t, s, "c*")
}

// The runs of dead owners hold no locks and are not in the queue.
func testQueueDeath(t *testing.T, s history.Store) {
	lapser, ok := s.(Lapser)
	if !ok {
		t.Skip("an owner cannot lose a run of this store")
	}
	a := enqueue(t, s, "a", lock("x", 1))
	a.mustBeAdmitted()
	b := enqueue(t, s, "b", lock("x", 1))
	c := enqueue(t, s, "c", lock("x", 1))
	lapser.Lapse(t, "b") // the run directly behind it must notice
	c.waitForReport("it is next in the queue", func(q history.QueuePosition) bool { return q.Obstacles[0].Ahead == 0 })
	other := lapser.Lapse(t, "a")
	c.mustBeAdmitted()
	checkQueue(t, s, "c*")
	// A run that waited and is claimed by another owner joins at the end.
	d := enqueue(t, s, "d", lock("x", 1))
	taken := enqueueLedger(t, claim(t, other, "b", 0), "b", lock("x", 1))
	want(t, b.result(), history.ErrFenced)
	checkQueue(t, s, "c* d b")
	c.close()
	d.mustBeAdmitted()
	lapser.Lapse(t, "d")
	taken.mustBeAdmitted()
	// An owner that has lost the run does not release what the next owner holds.
	b.close()
	checkQueue(t, s, "b*")
}

// A failed run that is resumed waits like any other. Its status is restored when it gives
// up.
func testQueueResume(t *testing.T, s history.Store) {
	a := enqueue(t, s, "a", lock("x", 1))
	l := begin(t, s, record("b", "deploy"))
	appendAll(t, l, end("b", 1, dag.Failed))
	l.Close()
	before := info(t, s, "b")
	b := enqueueLedger(t, claim(t, s, "b", 1), "b", lock("x", 1))
	if i := info(t, s, "b"); i.Status != dag.Pending || i.ExitCode != 0 || !i.Ended.IsZero() {
		t.Errorf("%+v", i)
	}
	list, err := s.Runs(context.Background(), history.Query{Status: []dag.Status{dag.Failed}})
	if err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	b.close()
	before.Epoch = 2
	if diff := cmp.Diff(before, info(t, s, "b")); diff != "" {
		t.Error(diff)
	}
	b = enqueueLedger(t, claim(t, s, "b", 1), "b", lock("x", 1))
	a.close()
	b.mustBeAdmitted()
}

// A long queue is admitted one by one and in order, and never more runs than slots hold the
// lock.
func testQueueLong(t *testing.T, s history.Store) {
	const most = 3
	waiters := sizetest.Of(200, 200, 1000)
	gate := enqueue(t, s, "gate", lock("x", 1))
	gate.mustBeAdmitted()
	var mu sync.Mutex
	admitted, holding, crowd := 0, 0, 0
	var all sync.WaitGroup
	for i := range waiters {
		id := fmt.Sprintf("r%04d", i)
		a := enqueue(t, s, id, lock("x", most))
		all.Go(func() {
			if err := a.result(); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			admitted++
			holding++
			crowd = max(crowd, holding)
			mu.Unlock()
			// The queue itself says who was admitted first: goroutines may be delayed.
			queue, err := s.Queue(context.Background())
			if err != nil {
				t.Error(err)
			}
			for _, p := range queue {
				if !p.Held && p.Run < id {
					t.Errorf("%s was admitted before %s", id, p.Run)
				}
			}
			time.Sleep(time.Duration(i%3) * time.Millisecond)
			mu.Lock()
			holding--
			mu.Unlock()
			if err := a.ledger.Close(); err != nil {
				t.Error(err)
			}
		})
		if i == 0 {
			gate2 := enqueue(t, s, "r0000-gate", lock("x", 1)) // delays all that come later
			defer func() { gate2.cancel(errCancelled) }()
			all.Go(func() {
				if gate2.result() == nil {
					gate2.ledger.Close()
				}
			})
		}
	}
	gate.close()
	all.Wait()
	if admitted != waiters || crowd > most {
		t.Errorf("%d of %d were admitted, %d at once", admitted, waiters, crowd)
	}
	checkQueue(t, s, "")
}

// A suspended run holds nothing, and queues again when it is resumed.
func testQueueSuspend(t *testing.T, s history.Store) {
	a := enqueue(t, s, "a", lock("x", 1))
	a.mustBeAdmitted()
	b := enqueue(t, s, "b", lock("x", 1))
	appendAll(t, a.ledger, turn("a", 1, 1)...)
	if err := a.ledger.Suspend("step gate waits for approval", false); err != nil {
		t.Fatal(err)
	}
	b.mustBeAdmitted()
	again := enqueueLedger(t, claim(t, s, "a", 1), "a", lock("x", 1))
	again.mustWait(s)
	a.close() // an engine closes the ledger after Suspend
	checkQueue(t, s, "b* a")
	b.close()
	again.mustBeAdmitted()
}

// A run that is suspended with hold keeps what it holds, for its next owner and in its order.
func testQueueHold(t *testing.T, s history.Store) {
	for _, next := range []string{"continues", "ends", "asks for something else"} {
		t.Run(next, func(t *testing.T) {
			name := "x" + next
			id := func(n string) string { return n + "-" + strings.ReplaceAll(next, " ", "-") }
			a := enqueue(t, s, id("a"), lock(name, 1))
			a.mustBeAdmitted()
			b := enqueue(t, s, id("b"), lock(name, 1))
			appendAll(t, a.ledger, turn(id("a"), 1, 1)...)
			if err := a.ledger.Suspend("step gate waits for approval", true); err != nil {
				t.Fatal(err)
			}
			a.close() // an engine closes the ledger after Suspend
			b.mustWait(s)
			if q, err := s.Queue(context.Background()); err != nil || len(q) != 2 || q[0].Run != id("a") || !q[0].Held || q[0].PID != 0 {
				t.Errorf("%v %+v", err, q)
			}
			l := claim(t, s, id("a"), 1)
			b.mustWait(s)
			switch next {
			case "continues":
				again := enqueueLedger(t, l, id("a"), lock(name, 1))
				again.mustBeAdmitted()
				b.mustWait(s)
				l.Close()
			case "ends":
				l.Close()
			case "asks for something else":
				enqueueLedger(t, l, id("a"), lock(name+"2", 1)).mustBeAdmitted()
			}
			b.mustBeAdmitted()
			b.close()
			l.Close()
			checkQueue(t, s, "")
		})
	}
}

// An owner that has lost its run, and does not know it yet, releases nothing that the next
// owner holds.
func testQueueLost(t *testing.T, s history.Store) {
	lapser, ok := s.(Lapser)
	if !ok {
		t.Skip("an owner cannot lose a run of this store")
	}
	a := enqueue(t, s, "a", lock("x", 1))
	a.mustBeAdmitted()
	appendAll(t, a.ledger, turn("a", 1, 1)...)
	rival := lapser.Lapse(t, "a")
	again := enqueueLedger(t, claim(t, rival, "a", 1), "a", lock("x", 1))
	again.mustBeAdmitted()
	a.close()
	checkQueue(t, rival, "a*")
}
