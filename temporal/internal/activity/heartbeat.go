package activity

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

// heartbeatInterval is the time between two heartbeats. A cancel arrives with the answer to one.
const heartbeatInterval = 3 * time.Second

// The service gives an attempt away after interpreter.HeartbeatTimeout without a heartbeat. The
// worker stops it earlier: its processes get TERM after lostAfter, and have lostGrace to end.
const (
	lostAfter = 9 * time.Second
	lostGrace = 3 * time.Second
	_         = uint64(interpreter.HeartbeatTimeout - lostAfter - lostGrace - 2*time.Second) // time to end them
)

// errLost is the cause of an attempt's context when the service may give the attempt away.
const errLost = dag.StopWithin(lostGrace)

// heart tells the service that an attempt still runs, and stops the attempt if that fails for too
// long or if the service wants that. The SDK does the same, but it stops an attempt as soon as one
// heartbeat fails, and then lets it take all its time to end.
type heart struct {
	client client.Client
	token  []byte
	stop   context.CancelCauseFunc // of the attempt
	late   *time.Timer
}

// beat sends heartbeats for the attempt of an activity until end is called.
func beat(ctx context.Context, c client.Client, stop context.CancelCauseFunc) (end func()) {
	info := activity.GetInfo(ctx)
	h := &heart{client: c, token: info.TaskToken, stop: stop, late: time.AfterFunc(lostAfter, func() { stop(errLost) })}
	if age := time.Since(info.StartedTime).Abs(); age > heartbeatInterval {
		h.send(ctx) // the order may have been on its way for long, and be somebody else's now
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // while the attempt is being stopped, too
	go func() {
		t := time.NewTicker(heartbeatInterval)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				h.send(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		cancel()
		h.late.Stop()
	}
}

// send sends one heartbeat.
func (h *heart) send(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatInterval)
	defer cancel()
	sent := time.Now()
	err := h.client.RecordActivityHeartbeat(ctx, h.token)
	switch {
	case err == nil:
		h.late.Reset(lostAfter - time.Since(sent))
	case temporal.IsCanceledError(err):
		h.late.Reset(lostAfter - time.Since(sent))
		h.stop(err)
	case errors.As(err, new(*serviceerror.NotFound)):
		h.stop(errLost)
	}
}
