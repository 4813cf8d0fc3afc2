package service_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

const twoGates = "name: gates\nsteps:\n  - {name: one, approve: {prompt: first}}\n  - {name: two, approve: {prompt: second}}\n"

// TestWaitsForAnotherQuestion checks that a service notices when another process has resumed
// a waiting run between two polls, and the run now waits for another question: the answer to
// the first one is not a reason to resume it.
func TestWaitsForAnotherQuestion(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"gates": twoGates})
	state := b.onDisk()
	store := b.store.(*sqlite.Store)
	var reads, polls atomic.Int64
	var polling sync.Mutex // the test holds it to stop the polls
	s := b.serve(another(store), func(c *service.Config) {
		c.Changes = nil // it polls all the time, whether something has changed or not
		c.Store = &listedStore{store, func() {
			reads.Add(1)
			polling.Lock()
			defer polling.Unlock()
			polls.Add(1)
		}}
	})
	nextPolls := func(n int64) {
		first := polls.Load()
		waittest.Until(t, "poll", func() bool { return polls.Load() >= first+n }, func() any { return b.log.String() })
	}
	id := b.start(s, service.Request{Tool: "gates", Origin: "api"})
	b.becomes(id, dag.Waiting)
	nextPolls(2) // now the service knows what the run waits for

	polling.Lock()
	waittest.Until(t, "read of the answers by the next poll", func() bool { return reads.Load() > polls.Load() })
	other := b.open(state)
	past, err := engine.LoadRun(t.Context(), other, b.library(), id)
	if err != nil {
		t.Fatal(err)
	}
	q := past.Questions()[0]
	if err := other.Answer(t.Context(), id, history.Answer{Step: q.Step, Wait: q.Wait, Approve: true, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	next, err := past.Continue(b.library(), engine.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := engine.New(engine.Config{Store: other, Grace: time.Second}).Continue(t.Context(), next)
	if err != nil || res.Status != dag.Waiting {
		t.Fatal(res, err)
	}
	polling.Unlock()

	nextPolls(3)
	if info := b.becomes(id, dag.Waiting); info.Epoch != 2 {
		t.Errorf("the service has resumed a run that waits for another answer: owner %d", info.Epoch)
	}
	if err := s.Control.Answer(t.Context(), id, "two", service.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	b.becomes(id, dag.Succeeded)
}

// listedStore is a Store that calls a function when it has listed the open runs.
type listedStore struct {
	history.Store
	listed func()
}

func (s *listedStore) Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error) {
	list, err := s.Store.Runs(ctx, q)
	if q.Open {
		s.listed()
	}
	return list, err
}

// slowSuspend is a Store whose second Suspend waits, and which runs a function before it
// stores an answer to the second gate.
type slowSuspend struct {
	history.Store
	suspends   atomic.Int64
	suspending chan struct{} // closed when the second Suspend begins
	release    chan struct{} // closed to let it continue
	before     func()
}

func (s *slowSuspend) Begin(ctx context.Context, r *history.Record) (history.Ledger, error) {
	l, err := s.Store.Begin(ctx, r)
	return slowLedger{l, s}, err
}

func (s *slowSuspend) Claim(ctx context.Context, id string, seq uint64) (history.Ledger, error) {
	l, err := s.Store.Claim(ctx, id, seq)
	return slowLedger{l, s}, err
}

func (s *slowSuspend) Answer(ctx context.Context, id string, a history.Answer) error {
	if a.Step == "two" {
		s.before()
	}
	return s.Store.Answer(ctx, id, a)
}

func (s *slowSuspend) Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error) {
	list, err := s.Store.Runs(ctx, q)
	for i := range list {
		list[i].Answered = nil
	}
	return list, err
}

type slowLedger struct {
	history.Ledger
	store *slowSuspend
}

func (l slowLedger) Suspend(message string, hold bool) error {
	if l.store.suspends.Add(1) == 2 {
		close(l.store.suspending)
		<-l.store.release
	}
	return l.Ledger.Suspend(message, hold)
}

// TestAnsweredWhileSuspending checks that an answer is not lost that comes while another
// answer has the run resumed and its owner is just suspending it: the owner receives no
// answers any more, and the list of runs does not show which have answers.
func TestAnsweredWhileSuspending(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"gates": "name: gates\nsteps:\n  - {name: one, approve: {prompt: first}, wait-for: []}\n  - {name: two, approve: {prompt: second}, wait-for: []}\n"})
	store := &slowSuspend{Store: b.store, suspending: make(chan struct{}), release: make(chan struct{})}
	b.store = store
	s := b.serve()
	id := b.start(s, service.Request{Tool: "gates", Origin: "api"})
	b.becomes(id, dag.Waiting)
	store.before = func() {
		first := make(chan error, 1)
		go func() { first <- s.Control.Answer(t.Context(), id, "one", service.Answer{Approve: true}) }()
		<-store.suspending
		if err := <-first; err != nil {
			t.Error(err)
		}
		time.AfterFunc(300*time.Millisecond, func() { close(store.release) })
	}
	if err := s.Control.Answer(t.Context(), id, "two", service.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	b.becomes(id, dag.Succeeded)
}

// slowClose is a Store whose runs have no owner any more while this process still has them.
type slowClose struct {
	history.Store
	suspended chan struct{} // closed when a run is stored as waiting
	release   chan struct{} // closed to let Suspend return
}

func (s *slowClose) Begin(ctx context.Context, r *history.Record) (history.Ledger, error) {
	l, err := s.Store.Begin(ctx, r)
	return slowlyClosed{l, s}, err
}

type slowlyClosed struct {
	history.Ledger
	store *slowClose
}

func (l slowlyClosed) Suspend(message string, hold bool) error {
	err := l.Ledger.Suspend(message, hold)
	close(l.store.suspended)
	<-l.store.release
	return err
}

// TestCancelledWhileSuspending checks that a request to cancel is not lost that comes while the owner of a run has
// just suspended it: the owner receives no requests any more.
func TestCancelledWhileSuspending(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"gate": "name: gate\nsteps:\n  - {name: one, approve: {prompt: first}}\n"})
	store := &slowClose{Store: b.store, suspended: make(chan struct{}), release: make(chan struct{})}
	b.store = store
	s := b.serve()
	id := b.start(s, service.Request{Tool: "gate", Origin: "api"})
	<-store.suspended
	time.AfterFunc(100*time.Millisecond, func() { close(store.release) })
	if err := s.Control.Cancel(t.Context(), id, "enough"); err != nil {
		t.Error(err)
	}
	b.becomes(id, dag.Cancelled)
}
