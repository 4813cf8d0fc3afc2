package service_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/executor"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// failing is a tool whose runs fail and are retried at once.
const failing = "name: job\nbash: exit 3\nlabels: {team: ops}\nretry-run: {attempts: 1, delay: 1ms, on: [exit]}\n"

// runs returns all runs, oldest first.
func (b *bench) runs() []history.RunInfo {
	b.t.Helper()
	list, err := b.store.Runs(context.Background(), history.Query{})
	if err != nil {
		b.t.Fatal(err)
	}
	oldest := make([]history.RunInfo, 0, len(list))
	for i := range list {
		oldest = append(oldest, list[len(list)-1-i])
	}
	return oldest
}

// ended waits until there are n runs, which have all ended and are not retried any more.
func (b *bench) ended(n int) []history.RunInfo {
	b.t.Helper()
	var list []history.RunInfo
	waittest.Until(b.t, fmt.Sprintf("%d runs that have ended", n), func() bool {
		list = b.runs()
		for _, r := range list {
			if r.Ended.IsZero() || !r.RetryAt.IsZero() {
				return false
			}
		}
		return len(list) >= n
	}, func() any { return list })
	return list
}

// run executes a tool while no service is there.
func (b *bench) run(tool, origin string) *runresult.Result {
	b.t.Helper()
	plan, err := engine.Compile(b.library(), tool)
	if err != nil {
		b.t.Fatal(err)
	}
	res, err := engine.New(engine.Config{Store: b.store}).Run(b.t.Context(), plan, nil, engine.WithOrigin(origin))
	if err != nil {
		b.t.Fatal(err)
	}
	return res
}

// TestRetryRun checks that a service retries a run until it succeeds, with its origin and labels, and reports each end.
func TestRetryRun(t *testing.T) {
	t.Parallel()
	count := filepath.Join(t.TempDir(), "count")
	b := newBench(t, map[string]string{"job": fmt.Sprintf("name: job\nbash: echo x >> %s; [ $(wc -l < %[1]s) -ge 3 ]\nretry-run: {attempts: 4, delay: 1ms, on: [exit]}\n", count)})
	var mu sync.Mutex
	var ends []string
	s := b.serve(func(c *service.Config) {
		c.Ended = func(_ context.Context, e executor.Ended) {
			mu.Lock()
			defer mu.Unlock()
			ends = append(ends, fmt.Sprintf("%s/%d/%v", e.Result.Status, e.Result.Attempt, !e.Result.RetryAt.IsZero()))
		}
	})
	b.start(s, service.Request{Tool: "job", Origin: "webhook:x", Labels: map[string]string{"key": "v"}})
	list := b.ended(3)
	for i, r := range list {
		if i > 0 && r.RetryOf != list[i-1].ID || r.Origin != "webhook:x" || r.Labels["key"] != "v" || (r.Status == dag.Succeeded) != (i == 2) {
			t.Errorf("%+v", r)
		}
	}
	waittest.Until(t, "the ends are reported", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(ends, " ") == "failed/0/true failed/2/true succeeded/3/false"
	}, func() any { return ends })
}

// TestRetryRunLater checks that attempts begin when a service starts that were due before, that they wait while they may
// not, also over a restart, and that the runs of people are left alone.
func TestRetryRunLater(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"job": failing})
	mine, theirs := b.run("job", ""), b.run("job", "schedule:x")
	var asked atomic.Int32
	s := b.serve(func(c *service.Config) {
		c.MayRetry = func(_ context.Context, origin string) (bool, error) {
			if origin != "schedule:x" {
				t.Errorf("asked for a run of %q", origin)
			}
			asked.Add(1)
			return false, nil
		}
	})
	waittest.Until(t, "the service has asked twice", func() bool { return asked.Load() >= 2 })
	stop(s)
	if list := b.runs(); len(list) != 2 || list[1].RetryAt.IsZero() {
		t.Fatalf("%+v", list)
	}
	b.serve()
	b.becomesRetried(theirs.ID)
	b.endedRetry(theirs.ID, dag.ReasonExit)
	if info, err := b.store.Info(t.Context(), mine.ID); err != nil || info.RetryAt.IsZero() || len(b.runs()) != 3 {
		t.Errorf("%v, %+v", err, info)
	}
}

// becomesRetried waits until a run has been retried.
func (b *bench) becomesRetried(id string) {
	b.t.Helper()
	waittest.Until(b.t, "run that is retried", func() bool {
		info, err := b.store.Info(context.Background(), id)
		return err == nil && info.RetryAt.IsZero()
	})
}

// endedRetry waits until the only run that retries a run has failed for a reason, and returns it.
func (b *bench) endedRetry(id, reason string) history.RunInfo {
	b.t.Helper()
	var retries []history.RunInfo
	waittest.Until(b.t, "retry that has failed: "+reason, func() bool {
		retries = nil
		for _, r := range b.runs() {
			if r.RetryOf == id {
				retries = append(retries, r)
			}
		}
		return len(retries) > 0 && retries[0].Status == dag.Failed && retries[0].Reason == reason
	}, func() any { return retries })
	if len(retries) > 1 {
		b.t.Errorf("%d retries", len(retries))
	}
	return retries[0]
}

// TestRetryRunCannotBegin checks that an attempt that can never begin is recorded as a run that could not start, and reported
// once: because the policy refuses it, or because it is too late.
func TestRetryRunCannotBegin(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"job": failing})
	state := b.onDisk()
	refused := b.run("job", "api")
	late := b.copyOf(refused.ID, "late", time.Now().Add(-25*time.Hour))
	var reported sync.Map
	config := func(store *sqlite.Store) []func(*service.Config) {
		return []func(*service.Config){another(store), func(c *service.Config) {
			c.Decide = func(*engine.Plan) error { return errors.New("not on Sundays") }
			c.NotStarted = func(_ context.Context, u service.NotStarted) {
				if _, twice := reported.LoadOrStore(u.Result.RetryOf, u.Result); twice {
					t.Errorf("%s is reported twice", u.Result.RetryOf)
				}
			}
		}}
	}
	b.serve(config(b.store.(*sqlite.Store))...)
	b.serve(config(b.open(state))...)
	for id, want := range map[string]string{refused.ID: "not on Sundays", late: "could not begin within 24h0m0s"} {
		r := b.endedRetry(id, dag.ReasonNotStarted)
		record, err := b.store.Record(t.Context(), r.ID)
		if err != nil || !strings.Contains(r.Message, want) || r.Origin != "api" || r.Labels["team"] != "ops" || !record.Automatic || record.Attempt != 2 {
			t.Errorf("%v, %+v, %+v", err, r, record)
		}
		waittest.Until(t, "the report", func() bool { _, ok := reported.Load(id); return ok })
	}
}

// copyOf records another run like one that has ended, which is retried automatically at a time.
func (b *bench) copyOf(id, name string, retryAt time.Time) string {
	b.t.Helper()
	r, err := b.store.Record(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	events, err := b.store.Events(b.t.Context(), id, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	r.ID = name
	l, err := b.store.Begin(b.t.Context(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range events {
		events[i].Run = name
	}
	events[len(events)-1].Due = retryAt
	if err := errors.Join(l.Append(b.t.Context(), events), l.Close()); err != nil {
		b.t.Fatal(err)
	}
	return name
}

// TestRetryRunOnce checks that of several services one begins each attempt.
func TestRetryRunOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"job": failing})
	state := b.onDisk()
	first := b.run("job", "api")
	const runs = 5
	for i := range runs - 1 {
		b.copyOf(first.ID, fmt.Sprintf("copy%d", i), time.Now())
	}
	b.serve(another(b.store.(*sqlite.Store)))
	b.serve(another(b.open(state)))
	list := b.ended(2 * runs)
	of := map[string]int{}
	for _, r := range list {
		of[r.RetryOf]++
	}
	for id, n := range of {
		if id != "" && n != 1 {
			t.Errorf("run %s was retried %d times", id, n)
		}
	}
	if len(list) != 2*runs {
		t.Errorf("%d runs", len(list))
	}
}

// TestCancelRetry checks that a person can stop a run from being retried.
func TestCancelRetry(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"job": strings.Replace(failing, "1ms", "1h", 1)})
	s := b.serve()
	res := b.run("job", "api")
	if err := s.Control.Cancel(t.Context(), res.ID, "enough"); err != nil {
		t.Fatal(err)
	}
	if info, err := b.store.Info(t.Context(), res.ID); err != nil || !info.RetryAt.IsZero() || info.Status != dag.Failed {
		t.Errorf("%v, %+v", err, info)
	}
}

// TestRetryRunDraining checks that a service that stops leaves an attempt to the next one.
func TestRetryRunDraining(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"job": failing})
	res := b.run("job", "api")
	reached, drains := make(chan struct{}), make(chan struct{})
	s := b.serve(func(c *service.Config) {
		c.MayRetry = func(context.Context, string) (bool, error) {
			close(reached)
			<-drains
			return true, nil
		}
	})
	<-reached
	var stopped sync.WaitGroup
	stopped.Go(func() { s.Drain(0, nil) })
	waittest.Until(t, "the service stops", func() bool { return s.Health().Draining })
	close(drains)
	stopped.Wait()
	if list := b.runs(); len(list) != 1 || list[0].RetryAt.IsZero() {
		t.Fatalf("%+v", list)
	}
	b.serve()
	b.endedRetry(res.ID, dag.ReasonExit)
}
