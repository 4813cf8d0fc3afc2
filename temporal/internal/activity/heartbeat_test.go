package activity

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

// service answers heartbeats.
type service struct {
	client.Client
	answer func(ctx context.Context) error
}

func (s service) RecordActivityHeartbeat(ctx context.Context, _ []byte, _ ...any) error {
	return s.answer(ctx)
}

// TestHeartbeat: an attempt is stopped when the service wants that, and before the service can give it to another worker.
func TestHeartbeat(t *testing.T) {
	unavailable := errors.New("unavailable")
	for name, c := range map[string]struct {
		answer func(since time.Duration) error
		want   time.Duration // when the attempt is stopped; 0: it is not
		cause  error         // nil: the one that the service gives
	}{
		"all is well":   {func(time.Duration) error { return nil }, 0, nil},
		"cancelled":     {func(time.Duration) error { return temporal.NewCanceledError() }, heartbeatInterval, nil},
		"given away":    {func(time.Duration) error { return serviceerror.NewNotFound("gone") }, heartbeatInterval, errLost},
		"never reached": {func(time.Duration) error { return unavailable }, lostAfter, errLost},
		"no longer":     {func(since time.Duration) error { return unless(since <= 6*time.Second, unavailable) }, 6*time.Second + lostAfter, errLost},
		"only for a while": {func(since time.Duration) error {
			return unless(since < 5*time.Second || since > 8*time.Second, unavailable)
		}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, stop := context.WithCancelCause(context.Background())
				defer stop(nil)
				h := &heart{client: service{answer: func(context.Context) error { return c.answer(time.Since(began)) }}, stop: stop, late: time.AfterFunc(lostAfter, func() { stop(errLost) })}
				defer h.late.Stop()
				var stopped time.Duration
				for range 10 {
					select {
					case <-time.After(heartbeatInterval):
						h.send(context.Background())
					case <-ctx.Done():
					}
					if ctx.Err() != nil {
						stopped = time.Since(began)
						break
					}
				}
				if stopped != c.want || c.cause != nil && context.Cause(ctx) != c.cause || stopped > interpreter.HeartbeatTimeout+6*time.Second {
					t.Errorf("stopped after %v: %v; want %v", stopped, context.Cause(ctx), c.want)
				}
			})
		})
	}
}

// TestSlowHeartbeat: the time that a heartbeat took counts against the attempt, and a service that does not answer at all is
// not awaited for longer than until the next one.
func TestSlowHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, stop := context.WithCancelCause(context.Background())
		defer stop(nil)
		slow := func(context.Context) error { time.Sleep(2 * time.Second); return nil }
		h := &heart{client: service{answer: slow}, stop: stop, late: time.AfterFunc(lostAfter, func() { stop(errLost) })}
		h.send(context.Background())
		h.client = service{answer: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		h.send(context.Background())
		if at := time.Since(began); at != 2*time.Second+heartbeatInterval {
			t.Errorf("it waited until %v", at)
		}
		<-ctx.Done()
		if at := time.Since(began); at != lostAfter {
			t.Errorf("stopped after %v, want %v", at, lostAfter)
		}
	})
}

func unless(well bool, err error) error {
	if well {
		return nil
	}
	return err
}
