package dag

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestRetryAfter checks that a retry waits as long as the result asks, but not longer than the limit of one wait.
func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		b    Backoff
		want time.Duration
	}{
		{Backoff{Delay: time.Second}, 7 * time.Second},
		{Backoff{Delay: time.Second, Jitter: true}, 7 * time.Second},
		{Backoff{Delay: 9 * time.Second}, 9 * time.Second},
		{Backoff{Delay: time.Second, Max: 5 * time.Second}, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			run := RunnerFunc(func(_ context.Context, call *Call) (Result, error) {
				if call.Attempt == 1 {
					return Result{Status: Failed, ExitCode: 1, RetryAfter: 7}, nil
				}
				return Result{}, nil
			})
			g, err := New([]Node{{ID: "a", Runner: run, Policy: Policy{Attempts: 1, Backoff: c.b}}}, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := Run(t.Context(), g, nil, Options{})
			if err != nil || s.Result().Status != Succeeded || time.Since(began) != c.want {
				t.Errorf("%+v: %v after %v, want %v", c.b, err, time.Since(began), c.want)
			}
		})
	}
}
