package executor

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/service/feed"
)

func newExecutor(ended func(context.Context, Ended)) *Executor {
	return New(Config{Feed: feed.New(time.Now()), Log: slog.New(slog.DiscardHandler), Ended: ended})
}

// until returns a run that is recorded at once and ends with a result and an error when end is closed.
func until(r *Run, end <-chan struct{}, res *runresult.Result, err error) func(...engine.RunOption) (*runresult.Result, error) {
	return func(...engine.RunOption) (*runresult.Result, error) {
		r.onRecorded()
		<-end
		return res, err
	}
}

// TestLaunch checks that a run with an id is executed once, and that whoever waits for its end gets it.
func TestLaunch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reports []Ended
		x := newExecutor(func(_ context.Context, e Ended) { reports = append(reports, e) })
		end := make(chan struct{})
		first := &Run{ID: "a", Verb: "started", End: Ended{Workspace: "/w"}}
		if err := x.Launch(t.Context(), first, until(first, end, &runresult.Result{Status: dag.Succeeded}, nil)); err != nil {
			t.Fatal(err)
		}
		again := func(...engine.RunOption) (*runresult.Result, error) { panic("executed twice") }
		if err := x.Launch(t.Context(), &Run{ID: "a"}, again); err != nil {
			t.Errorf("a second request for the run: %v", err)
		}
		if n, draining := x.Load(); n != 1 || draining || !x.Owns("a") || x.Owns("b") {
			t.Errorf("%d runs, draining %v", n, draining)
		}
		if err := x.AwaitRelease(t.Context(), "a", time.Second); !errors.Is(err, history.ErrLive) {
			t.Errorf("a run that is executed: %v", err)
		}
		close(end)
		if err := x.AwaitRelease(t.Context(), "a", time.Second); err != nil || x.Owns("a") {
			t.Errorf("a run that has ended: %v", err)
		}
		synctest.Wait()
		if len(reports) != 1 || reports[0].Workspace != "/w" || reports[0].Result.Status != dag.Succeeded {
			t.Errorf("%+v", reports)
		}
	})
}

// TestNotStarted checks that the error of a run that was not recorded is that of Launch, and that its end is not reported.
func TestNotStarted(t *testing.T) {
	t.Parallel()
	x := newExecutor(func(context.Context, Ended) { t.Error("the end was reported") })
	want := errors.New("no")
	err := x.Launch(t.Context(), &Run{ID: "a"}, func(...engine.RunOption) (*runresult.Result, error) { return nil, want })
	if !errors.Is(err, want) || x.Owns("a") {
		t.Errorf("%v", err)
	}
	x.Drain(0, nil)
}

// TestDrain checks that a drain starts nothing, waits for runs and other work, counts the released runs, and ends the
// context of reports.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reported context.Context
		x := newExecutor(func(ctx context.Context, _ Ended) {
			reported = ctx
			<-ctx.Done()
		})
		ended, released := &Run{ID: "ended"}, &Run{ID: "released"}
		now := make(chan struct{})
		close(now)
		for r, do := range map[*Run]func(...engine.RunOption) (*runresult.Result, error){
			ended: until(ended, now, &runresult.Result{}, nil), released: until(released, x.drainOver, nil, dag.ErrReleased),
		} {
			if err := x.Launch(t.Context(), r, do); err != nil {
				t.Fatal(err)
			}
		}
		end, ok := x.Begin()
		if !ok {
			t.Fatal("work is refused")
		}
		time.AfterFunc(3*time.Minute, end)
		began := time.Now()
		if left := x.Drain(time.Minute, nil); left != 1 || time.Since(began) != 3*time.Minute || reported.Err() == nil {
			t.Errorf("%d runs are left after %v", left, time.Since(began))
		}
		if err := x.Launch(t.Context(), &Run{ID: "late"}, nil); !errors.Is(err, outcome.ErrDraining) {
			t.Errorf("a run after the drain: %v", err)
		}
		if _, ok := x.Begin(); ok {
			t.Error("work begins after the drain")
		}
	})
}

// TestLogOfEnds checks that a run which did not succeed is logged as a warning that names the step, without the keys of loops,
// and that nothing empty is logged.
func TestLogOfEnds(t *testing.T) {
	t.Parallel()
	failed := func(path string, s dag.Status) []runresult.StepResult {
		return []runresult.StepResult{{ID: path, Status: s}}
	}
	for want, res := range map[string]*runresult.Result{
		`level=INFO msg="run ended" status=succeeded` + "\n":                          {Status: dag.Succeeded},
		`level=INFO msg="run ended" status=succeeded notes="1 tolerated"`:             {Status: dag.Succeeded, Notes: []string{"1 tolerated"}},
		`level=INFO msg="run ended" status=cancelled` + "\n":                          {Status: dag.Cancelled},
		`level=WARN msg="run ended" status=failed step=bad message="step bad failed"`: {Status: dag.Failed, Steps: failed("bad", dag.Failed)},
		`step=copy/send message="step copy/send timed out"`:                           {Status: dag.Failed, Steps: failed("copy[secret]/send", dag.TimedOut)},
		`level=WARN msg="run ended" status=timed-out message=timeout`:                 {Status: dag.TimedOut, Reason: dag.ReasonTimeout},
	} {
		var b strings.Builder
		logEnd(slog.New(slog.NewTextHandler(&b, nil)), res)
		if !strings.Contains(b.String(), want) {
			t.Errorf("%+v is logged as %s", res, b.String())
		}
	}
}
