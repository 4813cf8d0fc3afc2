package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

var retryTime = runStart.Add(time.Hour)

// endedForRetry makes a run that has failed and is retried automatically.
func endedForRetry(t *testing.T, s history.Store, id string) {
	t.Helper()
	l := begin(t, s, record(id, "deploy"))
	last := end(id, 1, dag.Failed)
	last.Due = retryTime
	appendAll(t, l, last)
	l.Close()
}

// retryOf returns the record of a run that retries another one.
func retryOf(of, id string, automatic bool) *history.Record {
	r := record(id, "deploy")
	r.RetryOf, r.Attempt, r.Automatic = of, 2, automatic
	return r
}

// The end of a run says when it is retried automatically, until that or something else has happened.
func testRetryAt(t *testing.T, s history.Store) {
	ctx := context.Background()
	for what, act := range map[string]func(id string) error{
		"nothing": nil,
		"retried": func(id string) error {
			_, err := s.Begin(ctx, retryOf(id, "again-"+id, false))
			return err
		},
		"begun by itself": func(id string) error {
			_, err := s.Begin(ctx, retryOf(id, "itself-"+id, true))
			return err
		},
		"resumed":   func(id string) error { return claim(t, s, id, 1).Close() },
		"cancelled": func(id string) error { return s.Cancel(ctx, id, "enough") },
	} {
		t.Run(what, func(t *testing.T) {
			id := "run-" + what
			endedForRetry(t, s, id)
			if i := info(t, s, id); !i.RetryAt.Equal(retryTime) || i.Status != dag.Failed {
				t.Fatalf("%+v", i)
			}
			due := func(at time.Time) bool {
				list, err := s.Runs(ctx, history.Query{RetryDue: at, Prefix: id})
				if err != nil {
					t.Fatal(err)
				}
				return len(list) == 1 && list[0].ID == id && list[0].RetryAt.Equal(retryTime)
			}
			if due(retryTime.Add(-1)) || !due(retryTime) || !due(retryTime.Add(time.Hour)) {
				t.Error("it is not due at its time")
			}
			if act == nil {
				return
			}
			if err := act(id); err != nil {
				t.Fatal(err)
			}
			if i := info(t, s, id); !i.RetryAt.IsZero() || i.Status != dag.Failed || due(retryTime) {
				t.Errorf("it is still retried automatically: %+v", i)
			}
			_, err := s.Begin(ctx, retryOf(id, "late-"+id, true))
			want(t, err, history.ErrRetried)
			if _, err := s.Info(ctx, "late-"+id); !errors.Is(err, history.ErrNoRun) {
				t.Errorf("an attempt that came too late was recorded: %v", err)
			}
			begin(t, s, retryOf(id, "person-"+id, false)) // a person may retry it at any time
		})
	}
	t.Run("resumed and ended again", func(t *testing.T) {
		endedForRetry(t, s, "twice")
		l := claim(t, s, "twice", 1)
		last := end("twice", 3, dag.Failed)
		appendAll(t, l, dag.Event{V: 1, Seq: 2, Run: "twice", Kind: dag.RunResumed, Time: runStart}, last)
		if i := info(t, s, "twice"); !i.RetryAt.IsZero() {
			t.Errorf("%+v", i)
		}
		appendAll(t, l, dag.Event{V: 1, Seq: 4, Run: "twice", Kind: dag.RunResumed, Time: runStart})
		last.Seq, last.Due = 5, retryTime
		appendAll(t, l, last)
		if i := info(t, s, "twice"); !i.RetryAt.Equal(retryTime) {
			t.Errorf("%+v", i)
		}
	})
	_, err := s.Begin(ctx, retryOf("nobody", "orphan", true))
	want(t, err, history.ErrRetried)
	r, err := s.Record(ctx, "itself-run-begun by itself")
	if err != nil || r.Attempt != 2 || !r.Automatic {
		t.Errorf("%+v, %v", r, err)
	}
}

// Of several attempts at the same time one begins.
func testRetryOnce(t *testing.T, s history.Store) {
	const rounds, rivals = 5, 8
	for round := range rounds {
		id := fmt.Sprintf("r%d", round)
		endedForRetry(t, s, id)
		var all sync.WaitGroup
		var begun atomic.Int32
		for i := range rivals {
			all.Go(func() {
				l, err := s.Begin(context.Background(), retryOf(id, fmt.Sprintf("%s-%d", id, i), true))
				switch {
				case err == nil:
					begun.Add(1)
					l.Close()
				case !errors.Is(err, history.ErrRetried):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := begun.Load(); n != 1 {
			t.Errorf("%d attempts have begun", n)
		}
	}
}
