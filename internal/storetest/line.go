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
	"github.com/flowrun/flowrun/internal/waittest"
)

// lock is the need of a lock.
func lock(name string, slots int) history.LockDemand {
	return history.LockDemand{Kind: history.DemandLock, Name: name, Slots: slots}
}

// asker is a run that stands in line, or has.
type asker struct {
	t      *testing.T
	id     string
	ledger history.Ledger
	cancel context.CancelCauseFunc
	told   chan history.QueuePosition
	done   chan error
}

var errEnough = errors.New("enough")

// ask begins a run and has it stand in line. It returns when the run has been admitted,
// or has heard that it waits, so that the order of calls is that of the line.
func ask(t *testing.T, s history.Store, id string, needs ...history.LockDemand) *asker {
	t.Helper()
	return askWith(t, begin(t, s, record(id, "deploy")), id, needs...)
}

func askWith(t *testing.T, l history.Ledger, id string, needs ...history.LockDemand) *asker {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	a := &asker{t, id, l, cancel, make(chan history.QueuePosition, 10_000), make(chan error, 1)}
	first, heard := make(chan struct{}), sync.Once{}
	go func() {
		err := l.Admit(ctx, history.Admission{Demands: needs, Notify: func(q history.QueuePosition) {
			a.told <- q
			heard.Do(func() { close(first) })
		}})
		a.done <- err
		heard.Do(func() { close(first) })
	}()
	t.Cleanup(func() { cancel(errEnough) })
	select {
	case <-first:
	case <-time.After(waittest.Limit):
		t.Fatalf("run %s neither waits nor goes ahead", id)
	}
	return a
}

// admitted waits until the run is.
func (a *asker) admitted() {
	a.t.Helper()
	if err := a.ends(); err != nil {
		a.t.Fatalf("run %s: %v", a.id, err)
	}
}

// ends waits for the end of Admit.
func (a *asker) ends() error {
	a.t.Helper()
	select {
	case err := <-a.done:
		return err
	case <-time.After(waittest.Limit):
		a.t.Fatalf("run %s still waits", a.id)
		return nil
	}
}

// waits says that the run has not been admitted, by the Store's own account.
func (a *asker) waits(s history.Store) {
	a.t.Helper()
	if i := info(a.t, s, a.id); i.Status != dag.Pending {
		a.t.Fatalf("run %s is %v, want pending", a.id, i.Status)
	}
}

// hears waits until the run has been told what the condition holds of.
func (a *asker) hears(what string, is func(history.QueuePosition) bool) {
	a.t.Helper()
	for end := time.After(waittest.Limit); ; {
		select {
		case q := <-a.told:
			if is(q) {
				return
			}
		case <-end:
			a.t.Fatalf("run %s was not told %s", a.id, what)
		}
	}
}

func (a *asker) close() {
	a.t.Helper()
	if err := a.ledger.Close(); err != nil {
		a.t.Fatal(err)
	}
}

// standing is the Store's line in a word for each run: a* holds, b waits.
func standing(t *testing.T, s history.Store) string {
	t.Helper()
	line, err := s.Queue(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, p := range line {
		word := p.Run
		if p.Held {
			word += "*"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func inLine(t *testing.T, s history.Store, want string) {
	t.Helper()
	if got := standing(t, s); got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}
}

// One holds, the next waits and is told for whom, and goes ahead when that ends.
func testLine(t *testing.T, s history.Store) {
	ctx := context.Background()
	none := ask(t, s, "r0")
	none.admitted()
	inLine(t, s, "")

	a := ask(t, s, "a", lock("db", 1))
	a.admitted()
	if i := info(t, s, "a"); i.Status != dag.Running {
		t.Error("who holds the lock is", i.Status)
	}
	b := ask(t, s, "b", lock("db", 1))
	c := ask(t, s, "c", lock("db", 1))
	inLine(t, s, "a* b c")
	line, err := s.Queue(ctx)
	if err != nil || line[1].PID != os.Getpid() || line[1].Since.IsZero() || !cmp.Equal(line[1].Demands, []history.LockDemand{lock("db", 1)}) {
		t.Errorf("%+v, %v", line, err)
	}
	b.hears("who holds the lock", func(q history.QueuePosition) bool {
		o := q.Obstacles[0]
		return q.Run == "b" && !q.Since.IsZero() && o.Name == "db" && o.Ahead == 0 && len(o.Holders) == 1 && o.Holders[0].Run == "a" && o.Holders[0].PID == os.Getpid()
	})
	c.hears("who stands before it", func(q history.QueuePosition) bool { return q.Obstacles[0].Ahead == 1 && q.Obstacles[0].Behind == "b" })
	i := info(t, s, "b")
	if i.Status != dag.Pending || i.Reason != "lock" || !strings.Contains(i.Message, "lock db, held by run a (pid ") || !i.Started.Equal(begun) {
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
	b.admitted()
	c.hears("that the lock has another holder", func(q history.QueuePosition) bool {
		return q.Obstacles[0].Ahead == 0 && q.Obstacles[0].Holders[0].Run == "b"
	})
	inLine(t, s, "b* c")
	if i := info(t, s, "b"); i.Status != dag.Running || i.Reason != "" {
		t.Errorf("%+v", i)
	}
	b.close()
	c.admitted()
	c.close()
	inLine(t, s, "")
}

// All or nothing, first come first served, and nobody waits for those it has nothing in
// common with.
func testLineFair(t *testing.T, s history.Store) {
	turn := history.LockDemand{Kind: history.DemandActiveRun, Name: "db", File: "/w/db.yaml", Slots: 1} // a tool, no lock
	a := ask(t, s, "a", lock("x", 1))
	a.admitted()
	both := ask(t, s, "b", lock("x", 1), lock("y", 1)) // waits for x, and does not take y meanwhile
	y := ask(t, s, "c", lock("y", 1))                  // free, but b was first
	z := ask(t, s, "d", lock("z", 2), turn)
	z.admitted()
	other := ask(t, s, "e", history.LockDemand{Kind: history.DemandActiveRun, Name: "db", File: "/v/db.yaml", Slots: 1}, lock("db", 1))
	other.admitted()
	z2, z3 := ask(t, s, "f", lock("z", 2)), ask(t, s, "g", lock("z", 3)) // what each asker says counts
	z2.admitted()
	z3.admitted()
	z4 := ask(t, s, "h", lock("z", 2))
	z5 := ask(t, s, "i", lock("z", 9)) // would fit, but h was first
	inLine(t, s, "a* b c d* e* f* g* h i")
	y.waits(s)
	y.hears("that only the order holds it up", func(q history.QueuePosition) bool {
		o := q.Obstacles[0]
		return o.Name == "y" && len(o.Holders) == 0 && o.Ahead == 1 && o.Behind == "b"
	})
	a.close()
	both.admitted()
	y.waits(s)
	both.close()
	y.admitted()
	z.close()
	z4.waits(s)
	z5.waits(s)
	z2.close()
	z4.admitted()
	z5.admitted()
	inLine(t, s, "c* e* g* h* i*")
}

// Who is cancelled leaves the line, wherever it stands, and is not in the way any more.
func testLineLeave(t *testing.T, s history.Store) {
	ended, stop := context.WithCancelCause(context.Background())
	stop(errEnough)
	l := begin(t, s, record("r0", "deploy"))
	want(t, l.Admit(ended, history.Admission{Demands: []history.LockDemand{lock("x", 1)}}), errEnough)
	inLine(t, s, "")

	a := ask(t, s, "a", lock("x", 1))
	b := ask(t, s, "b", lock("x", 1), lock("y", 1))
	c := ask(t, s, "c", lock("y", 1))
	d := ask(t, s, "d", lock("x", 1))
	b.cancel(errEnough)
	want(t, b.ends(), errEnough)
	c.admitted()
	inLine(t, s, "a* c* d")
	if i := info(t, s, "b"); i.Status != dag.Running { // whose owner still has it, to end it
		t.Errorf("%+v", i)
	}
	appendAll(t, b.ledger, end("b", 1, dag.Cancelled))
	if i := info(t, s, "b"); i.Status != dag.Cancelled {
		t.Errorf("%+v", i)
	}
	d.close() // given up while it waits
	want(t, d.ends(), history.ErrFenced)
	inLine(t, s, "a* c*")
	if i := info(t, s, "d"); i.Status != dag.Interrupted {
		t.Errorf("%+v", i)
	}
	want(t, a.ledger.Close(), nil)
	inLine(t, s, "c*")
	want(t, a.ledger.Admit(context.Background(), history.Admission{Demands: []history.LockDemand{lock("x", 1)}}), history.ErrFenced)
	inLine(t, s, "c*")
}

// The dead hold nothing and stand nowhere, those who hold and those who wait.
func testLineDeath(t *testing.T, s history.Store) {
	lapser, ok := s.(Lapser)
	if !ok {
		t.Skip("an owner cannot lose a run of this store")
	}
	a := ask(t, s, "a", lock("x", 1))
	a.admitted()
	b := ask(t, s, "b", lock("x", 1))
	c := ask(t, s, "c", lock("x", 1))
	lapser.Lapse(t, "b") // the one right behind must notice
	c.hears("that it is the next", func(q history.QueuePosition) bool { return q.Obstacles[0].Ahead == 0 })
	other := lapser.Lapse(t, "a")
	c.admitted()
	inLine(t, s, "c*")
	// Who takes a run over that stood in line stands at its end.
	d := ask(t, s, "d", lock("x", 1))
	taken := askWith(t, claim(t, other, "b", 0), "b", lock("x", 1))
	want(t, b.ends(), history.ErrFenced)
	inLine(t, s, "c* d b")
	c.close()
	d.admitted()
	lapser.Lapse(t, "d")
	taken.admitted()
	// One who lost the run does not take away what the next owner has.
	b.close()
	inLine(t, s, "b*")
}

// A run that ended badly and goes on waits like another one; what it was is not lost
// when it gives up.
func testLineAgain(t *testing.T, s history.Store) {
	a := ask(t, s, "a", lock("x", 1))
	l := begin(t, s, record("b", "deploy"))
	appendAll(t, l, end("b", 1, dag.Failed))
	l.Close()
	before := info(t, s, "b")
	b := askWith(t, claim(t, s, "b", 1), "b", lock("x", 1))
	if i := info(t, s, "b"); i.Status != dag.Pending || i.ExitCode != 0 || !i.Ended.IsZero() {
		t.Errorf("%+v", i)
	}
	list, err := s.Runs(context.Background(), history.Query{Status: []dag.Status{dag.Failed}})
	if err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	b.close()
	if diff := cmp.Diff(before, info(t, s, "b")); diff != "" {
		t.Error(diff)
	}
	b = askWith(t, claim(t, s, "b", 1), "b", lock("x", 1))
	a.close()
	b.admitted()
}

// A long line moves up one by one, in order, and nobody holds what another has.
func testLineLong(t *testing.T, s history.Store) {
	const most = 3
	waiters := 200
	if os.Getenv("FLOWRUN_LONG") == "1" {
		waiters = 1000
	}
	gate := ask(t, s, "gate", lock("x", 1))
	gate.admitted()
	var mu sync.Mutex
	admitted, holding, crowd := 0, 0, 0
	var all sync.WaitGroup
	for i := range waiters {
		id := fmt.Sprintf("r%04d", i)
		a := ask(t, s, id, lock("x", most))
		all.Go(func() {
			if err := a.ends(); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			admitted++
			holding++
			crowd = max(crowd, holding)
			mu.Unlock()
			// The queue itself says who was admitted first: goroutines may be delayed.
			line, err := s.Queue(context.Background())
			if err != nil {
				t.Error(err)
			}
			for _, p := range line {
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
			gate2 := ask(t, s, "r0000-gate", lock("x", 1)) // delays all that come later
			defer func() { gate2.cancel(errEnough) }()
			all.Go(func() {
				if gate2.ends() == nil {
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
	inLine(t, s, "")
}

// A run that rests holds nothing, and asks again when it is taken up.
func testLineRest(t *testing.T, s history.Store) {
	a := ask(t, s, "a", lock("x", 1))
	a.admitted()
	b := ask(t, s, "b", lock("x", 1))
	appendAll(t, a.ledger, turn("a", 1, 1)...)
	if err := a.ledger.Suspend("step gate waits for approval"); err != nil {
		t.Fatal(err)
	}
	b.admitted()
	again := askWith(t, claim(t, s, "a", 1), "a", lock("x", 1))
	again.waits(s)
	a.close() // as an engine does after a rest
	inLine(t, s, "b* a")
	b.close()
	again.admitted()
}

// An owner that has lost its run, and does not know that yet, gives up nothing that the
// next owner holds.
func testLineLost(t *testing.T, s history.Store) {
	lapser, ok := s.(Lapser)
	if !ok {
		t.Skip("an owner cannot lose a run of this store")
	}
	a := ask(t, s, "a", lock("x", 1))
	a.admitted()
	appendAll(t, a.ledger, turn("a", 1, 1)...)
	rival := lapser.Lapse(t, "a")
	again := askWith(t, claim(t, rival, "a", 1), "a", lock("x", 1))
	again.admitted()
	a.close()
	inLine(t, rival, "a*")
}
