package mcp

import (
	"context"
	"errors"
	"sync"
)

// active counts the calls in progress, so that Close can end them. A connection does not do
// that: over HTTP, a call continues when its client disconnects.
type active struct {
	mu      sync.Mutex
	closing bool
	stop    chan struct{} // closed when the calls must end
	stopped sync.Once
	calls   sync.WaitGroup
}

// errClosing is the cause with which calls end when the server stops.
var errClosing = errors.New("the server stops")

// enter returns the context of a call, which ends when the server stops. Call leave when the
// call has ended.
func (a *active) enter(ctx context.Context) (call context.Context, leave func()) {
	call, cancel := context.WithCancelCause(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closing {
		cancel(errClosing)
		return call, func() {}
	}
	a.calls.Add(1)
	ended := make(chan struct{})
	go func() {
		select {
		case <-a.stop:
			cancel(errClosing)
		case <-ended:
		}
	}()
	return call, func() {
		close(ended)
		cancel(nil)
		a.calls.Done()
	}
}

// close waits for the calls in progress, and cancels them when now is closed.
func (a *active) close(now <-chan struct{}) {
	a.mu.Lock()
	a.closing = true
	a.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		a.calls.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-now:
		a.stopped.Do(func() { close(a.stop) })
		<-ended
	}
}
