package service_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// onDisk gives a bench a Store that several services can open.
func (b *bench) onDisk() string {
	b.t.Helper()
	dir := b.t.TempDir()
	b.store = b.open(dir)
	return dir
}

func (b *bench) open(dir string) *sqlite.Store {
	b.t.Helper()
	s, err := sqlite.Open(b.t.Context(), dir)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { s.Close() })
	return s
}

// another returns the Store of another process on the same directory.
func another(store *sqlite.Store) func(*service.Config) {
	return func(c *service.Config) {
		c.Store, c.Changes, c.Writable = store, store.File().Changes, store.File().Writable
		c.Engine = engine.New(engine.Config{Store: store, Grace: time.Second})
	}
}

// kill closes a Store as the end of its process would: its runs lose their owner.
func kill(t *testing.T, s *sqlite.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// killed makes the runs of a closed Store look as if their owner had been killed.
func killed(t *testing.T, state string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(state, "history.db"))
	if err == nil {
		_, err = db.Exec(`UPDATE runs SET owner = '{"pid":1,"boot":"another"}' WHERE ended IS NULL`)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// gate returns a command that reports its start, and waits for a file.
func gate(dir, name string) string {
	return "echo x >> " + filepath.Join(dir, name+".began") + "; until [ -e " + filepath.Join(dir, name+".go") + " ]; do sleep 0.02; done"
}

func (b *bench) begun(dir, name string, times int) {
	b.t.Helper()
	waittest.Until(b.t, fmt.Sprintf("start %d of %s", times, name), func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, name+".began"))
		return len(text) >= 2*times
	}, func() any { return b.log.String() })
}

func (b *bench) let(dir, name string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name+".go"), nil, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// TestDrain checks that a stopping service releases its runs, that the next one resumes
// them, and that each step has its effect once.
func TestDrain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBench(t, map[string]string{
		"steps": "name: steps\ntags: [read]\nsteps:\n  - {name: a, bash: '" + gate(dir, "a") + "'}\n  - {name: b, bash: '" + gate(dir, "b") + "'}\n",
		"long":  "name: long\ntags: [read]\nbash: " + gate(dir, "long") + "\n",
		"once":  "name: once\nbash: " + gate(dir, "once") + "\n",
	})
	s := b.serve()
	steps := b.start(s, service.Request{Tool: "steps", Origin: "api"})
	long := b.start(s, service.Request{Tool: "long", Origin: "api"})
	once := b.start(s, service.Request{Tool: "once", Origin: "api"})
	for _, name := range []string{"a", "long", "once"} {
		b.begun(dir, name, 1)
	}
	hurry, left := make(chan struct{}), make(chan int)
	go func() { left <- s.Drain(time.Hour, hurry) }()
	waittest.Until(t, "draining", func() bool { return s.Health().Draining })
	if _, err := s.Starter.Start(t.Context(), service.Request{Tool: "steps"}); !errors.Is(err, outcome.ErrDraining) {
		t.Errorf("a start is answered with %v", err)
	}
	b.let(dir, "a")
	b.becomes(steps, dag.Interrupted) // a has ended, b has not begun
	close(hurry)
	if n := <-left; n != 3 {
		t.Errorf("%d runs were let go", n)
	}
	for _, id := range []string{long, once} {
		b.becomes(id, dag.Interrupted)
	}
	b.let(dir, "b")
	b.let(dir, "long")
	next := b.serve()
	b.becomes(steps, dag.Succeeded)
	b.becomes(long, dag.Succeeded)
	b.begun(dir, "long", 2)
	if text, _ := os.ReadFile(filepath.Join(dir, "a.began")); len(text) != 2 {
		t.Errorf("step a ran %d times", len(text)/2)
	}
	var asks *outcome.InterruptedError
	waittest.Until(t, "run that is left to people", func() bool { return errors.As(next.Parked.Why(once), &asks) })
	b.becomes(once, dag.Interrupted)
	if err := next.Control.Resume(t.Context(), once); !errors.As(err, &asks) {
		t.Errorf("to continue with it is answered with %v", err)
	}
}

// TestTwoServices checks that when one service is killed, the other one resumes its runs, and
// only those that belong to a service; subscribers see no gap.
func TestTwoServices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBench(t, map[string]string{"job": "name: job\ntags: [read]\nsteps:\n  - {name: a, bash: echo}\n  - {name: b, bash: '" + gate(dir, "b") + "'}\n"})
	state := b.onDisk()
	first := b.store.(*sqlite.Store)
	second := b.open(state)
	s := b.serve(another(first))
	o := b.serve(another(second))
	batches, _ := o.Feed.Watch(t.Context(), 0)
	updates := newUpdates(batches)
	id := b.start(s, service.Request{Tool: "job", Origin: "api"})
	b.begun(dir, "b", 1)
	plan, err := engine.Compile(b.library(), "job")
	if err != nil {
		t.Fatal(err)
	}
	mine := make(chan string, 1)
	over := make(chan struct{})
	go func() { // a person's
		defer close(over)
		engine.New(engine.Config{Store: first, Grace: time.Second}).Run(context.Background(), plan, nil, engine.WithID("person"), engine.WithOnRecorded(func() { mine <- "person" }))
	}()
	person := <-mine
	b.begun(dir, "b", 2)
	b.store = second
	kill(t, first)
	b.log.says(t, "run resumed after an interruption.*"+id)
	b.let(dir, "b")
	b.becomes(id, dag.Succeeded)
	<-over
	b.becomes(person, dag.Interrupted)
	if n := b.log.count("run resumed after an interruption"); n != 1 {
		t.Errorf("%d runs were resumed\n%s", n, b.log)
	}
	for seq := uint64(1); ; seq++ {
		u := updates.next(t)
		for u.Run != id {
			u = updates.next(t)
		}
		if u.Event.Seq != seq {
			t.Fatalf("event %d instead of %d", u.Event.Seq, seq)
		}
		if u.Event.Kind == dag.RunFinished {
			break
		}
	}
}

// TestLoop checks that a run which crashes its service each time is left to people in the
// end.
func TestLoop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBench(t, map[string]string{"bomb": "name: bomb\ntags: [read]\nbash: " + gate(dir, "bomb") + "\n"})
	state := b.onDisk()
	id := ""
	var mu sync.Mutex
	cut := map[string]bool{}
	for try := range 5 {
		store := b.store.(*sqlite.Store)
		s := b.serve(another(store), func(c *service.Config) {
			c.CutOff = func(_ context.Context, run history.RunInfo) {
				mu.Lock()
				defer mu.Unlock()
				cut[fmt.Sprint(run.ID, " ", run.Epoch)] = true
			}
		})
		if try == 0 {
			id = b.start(s, service.Request{Tool: "bomb", Origin: "webhook:x"})
		}
		if try == 4 {
			waittest.Until(t, "run that is left to people", func() bool {
				why := s.Parked.Why(id)
				return why != nil && strings.Contains(why.Error(), "resumed 3 times within 1h0m0s")
			})
			if err := s.Control.Resume(t.Context(), id); err != nil { // a person may all the same
				t.Fatal(err)
			}
			b.let(dir, "bomb")
			b.becomes(id, dag.Succeeded)
			break
		}
		b.begun(dir, "bomb", try+1)
		kill(t, store)
		stop(s)
		killed(t, state)
		b.store = b.open(state)
	}
	waittest.Until(t, "a report of each kill", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(cut) == 4
	}, func() any { return cut })
}

// TestStoppedOften checks that a run is resumed however often its service is stopped in an
// orderly way and restarted.
func TestStoppedOften(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBench(t, map[string]string{"long": "name: long\ntags: [read]\nbash: " + gate(dir, "long") + "\n"})
	b.onDisk()
	id := ""
	for try := range 5 {
		s := b.serve(another(b.store.(*sqlite.Store)))
		if try == 0 {
			id = b.start(s, service.Request{Tool: "long", Origin: "api"})
		}
		b.begun(dir, "long", try+1)
		if try < 4 {
			stop(s)
		}
	}
	b.let(dir, "long")
	b.becomes(id, dag.Succeeded)
}

// TestCancelled checks that a run which was being cancelled when its owner was killed is
// cancelled, and that only cleanup steps run again.
func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBench(t, map[string]string{"job": "name: job\ntags: [read]\nsteps:\n  - {name: work, bash: '" + gate(dir, "work") + "'}\n" +
		"  - {name: tidy, bash: '" + gate(dir, "tidy") + "', run-condition: always()}\n"})
	state := b.onDisk()
	first := b.store.(*sqlite.Store)
	s := b.serve(another(first))
	id := b.start(s, service.Request{Tool: "job", Origin: "api"})
	b.begun(dir, "work", 1)
	if err := s.Control.Cancel(t.Context(), id, "enough"); err != nil {
		t.Fatal(err)
	}
	b.begun(dir, "tidy", 1)
	kill(t, first)
	stop(s)
	b.let(dir, "tidy")
	second := b.open(state)
	b.store = second
	b.serve(another(second))
	b.becomes(id, dag.Cancelled)
	if text, _ := os.ReadFile(filepath.Join(dir, "work.began")); len(text) != 2 {
		t.Errorf("work ran %d times", len(text)/2)
	}
}

// TestAdoptWaiting checks that a run which only waits never counts as crashing its service,
// however often services are restarted.
func TestAdoptWaiting(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"later": "name: later\nsteps:\n  - {name: pause, wait: {for: 2h}}\n  - {name: go, bash: 'true'}\n"})
	s := b.serve()
	id := b.start(s, service.Request{Tool: "later", Origin: "api"})
	for range 5 {
		stop(s)
		b.becomes(id, dag.Interrupted)
		s = b.serve()
		b.becomes(id, dag.Running)
	}
	if err := s.Control.Cancel(t.Context(), id, "enough"); err != nil {
		t.Fatal(err)
	}
	b.becomes(id, dag.Cancelled)
}
