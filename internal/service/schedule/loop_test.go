package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// service runs a loop inside a synctest bubble, and returns a function that stops it.
func service(l *Loop) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { l.Run(ctx) })
	return func() { cancel(); done.Wait() }
}

// counting is Runs that only counts.
type counting struct {
	mu    sync.Mutex
	ids   int
	fired map[string]int
	err   error
}

func (c *counting) Active(context.Context, *Schedule) (int, int, error) { return 0, 0, nil }
func (c *counting) LastSuccess(context.Context, *Schedule) (time.Time, error) {
	return time.Time{}, nil
}
func (c *counting) NewID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids++
	return fmt.Sprint("run", c.ids)
}
func (c *counting) Start(_ context.Context, f Firing) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fired == nil {
		c.fired = map[string]int{}
	}
	c.fired[fmt.Sprint(f.Schedule.Name, f.Scheduled.At.Unix())]++
	return c.err
}

// TestThousand runs a thousand schedules that fire every second, and two services.
func TestThousand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, runs := newBook(), &counting{}
		var list []Schedule
		for i := range 1000 {
			s := schedule(t, "* * * * * *")
			s.Name, s.CatchUp = fmt.Sprint("schedule", i, "@"), CatchUpAll
			list = append(list, s)
		}
		a, b := New(Config{Store: book, Runs: runs}), New(Config{Store: book, Runs: runs})
		a.Set(list)
		b.Set(list)
		time.Sleep(100 * time.Millisecond)
		stopA, stopB := service(a), service(b)
		time.Sleep(5 * time.Second)
		stopA()
		time.Sleep(5 * time.Second)
		stopB()
		if len(runs.fired) != 10_000 {
			t.Errorf("%d firings, want 10000", len(runs.fired))
		}
		for slot, n := range runs.fired {
			if n != 1 {
				t.Errorf("%s fired %d times", slot, n)
			}
		}
	})
}

func TestBookFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, runs := newBook(), &counting{}
		failed := 0
		l := New(Config{Store: book, Runs: runs, Observe: func(r Report) {
			if r.Kind == Failed {
				failed++
			}
		}})
		s := schedule(t, "* * * * *")
		l.Set([]Schedule{s})
		stop := service(l)
		defer stop()
		synctest.Wait()
		book.mu.Lock()
		book.broken = errors.New("the disk is full")
		book.mu.Unlock()
		time.Sleep(62 * time.Second)
		book.mu.Lock()
		book.broken = nil
		book.mu.Unlock()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if failed == 0 || len(runs.fired) != 1 {
			t.Errorf("%d failures, then %v", failed, runs.fired)
		}
	})
}

// TestSuspended checks that times handled by another service while this one slept are not
// missed.
func TestSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, runs := newBook(), &counting{}
		var asleep atomic.Int64 // what the suspended machine's clock is behind
		var reports []Report
		a := New(Config{Store: book, Runs: runs})
		b := New(Config{Store: book, Runs: runs, Now: func() time.Time { return time.Now().Add(time.Duration(asleep.Load())) }, Observe: func(r Report) {
			if r.Kind != Fired && r.Kind != Jumped && r.Kind != Taken {
				reports = append(reports, r)
			}
		}})
		list := []Schedule{schedule(t, "* * * * *")}
		asleep.Store(int64(-time.Hour))
		b.Set(list)
		stopB := service(b)
		time.Sleep(time.Second)
		a.Set(list)
		stopA := service(a)
		time.Sleep(time.Hour)
		stopA()
		asleep.Store(0)
		time.Sleep(2 * time.Minute)
		stopB()
		if len(reports) != 0 {
			t.Errorf("%+v", reports)
		}
	})
}

func TestStartFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := &counting{err: errors.New("the tool is broken")}
		var reports []Report
		l := New(Config{Store: newBook(), Runs: runs, Observe: func(r Report) { reports = append(reports, r) }})
		l.Set([]Schedule{schedule(t, "* * * * *")})
		stop := service(l)
		time.Sleep(130 * time.Second)
		stop()
		if len(reports) != 2 || reports[0].Kind != Failed || reports[0].Run == "" || !errors.Is(reports[1].Err, runs.err) {
			t.Errorf("%+v", reports)
		}
	})
}

// TestSet checks that schedules are added, removed and changed while the loop runs.
func TestSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := &counting{}
		l := New(Config{Store: newBook(), Runs: runs})
		stop := service(l)
		defer stop()
		count := func(d time.Duration) int {
			time.Sleep(d)
			synctest.Wait()
			runs.mu.Lock()
			defer runs.mu.Unlock()
			n := len(runs.fired)
			runs.fired = nil
			return n
		}
		if n := count(time.Hour); n != 0 {
			t.Errorf("%d without a schedule", n)
		}
		time.Sleep(time.Second)
		s := schedule(t, "* * * * *")
		l.Set([]Schedule{s})
		if n := count(10 * time.Minute); n != 10 {
			t.Errorf("%d in ten minutes", n)
		}
		s.Params = map[string]any{"X": 1}
		l.Set([]Schedule{s}) // the same times
		if n := count(10 * time.Minute); n != 10 {
			t.Errorf("%d in ten minutes, with other parameters", n)
		}
		l.Set(nil)
		if n := count(time.Hour); n != 0 {
			t.Errorf("%d after it was taken away", n)
		}
	})
}

// TestIdle checks that an idle loop wakes once a minute.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		l := New(Config{Store: newBook(), Runs: &counting{}, Now: func() time.Time { looks.Add(1); return time.Now() }})
		l.Set([]Schedule{schedule(t, "0 0 29 2 *")})
		stop := service(l)
		time.Sleep(time.Hour)
		stop()
		if n := looks.Load(); n > 4*60+20 {
			t.Errorf("it looked at the clock %d times in an hour", n)
		}
	})
}

func BenchmarkDue(b *testing.B) {
	s := schedule(b, "0 7 * * 1-5")
	now := at("2026-06-01T12:00:00Z")
	for b.Loop() {
		Due(&s, now.Add(-24*time.Hour), now)
	}
}

// TestMissedReason: the reason of a missed time says how many there were.
func TestMissedReason(t *testing.T) {
	for down, want := range map[time.Duration]string{time.Hour: "; 1 time up to this one", 3 * time.Hour: "; 3 times up to this one"} {
		synctest.Test(t, func(t *testing.T) {
			w := &world{s: schedule(t, "0 * * * *"), book: newBook()}
			w.s.CatchUp, w.runs = CatchUpNone, &runs{w: w}
			w.start().stop()
			w.jump(down + 30*time.Minute)
			var got string
			l := New(Config{Store: w.book, Runs: w.runs, Now: w.now, Observe: func(r Report) { got = r.Reason }})
			l.Set([]Schedule{w.s})
			stop := service(l)
			synctest.Wait()
			stop()
			if !strings.HasSuffix(got, want) {
				t.Errorf("after %v: %q, want %q", down, got, want)
			}
		})
	}
}
