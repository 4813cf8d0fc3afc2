package jsrun

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/internal/js/jsworld"
)

// childCall is the execution of one call in a child.
type childCall struct {
	pool  *pool
	call  *call
	child *child

	expired atomic.Bool    // the child was killed because of the time limit
	clock   *jsworld.Clock // kills the child when it exceeds the time limit

	mu      sync.Mutex
	pending int  // host calls that wait for an answer
	hasSlot bool // the call has a slot of the pool
}

// release releases the slot.
func (t *childCall) release() {
	if t.hasSlot {
		t.pool.releaseSlot()
	}
}

// run runs the call in the child. It returns after all host calls of the script have been
// answered.
func (t *childCall) run(ctx context.Context, ch *child) (json.RawMessage, error) {
	t.child = ch
	ch.unusable = true // until the result has arrived
	if err := t.prepare(ctx); err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	ctx, done := t.call.withTimeLimit(ctx)
	var hostCalls sync.WaitGroup
	defer hostCalls.Wait() // before the child gets its next call
	defer done()
	cancelStop := context.AfterFunc(ctx, t.stop)
	defer cancelStop()
	if err := t.send(); err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	t.clock = jsworld.NewClock(t.call.limit+2*jsworld.Grace, func() { t.expired.Store(true); ch.kill() }, nil)
	defer t.clock.Pause()
	for {
		f, err := ch.wire.Receive()
		switch {
		case err != nil:
			ch.kill() // also after an invalid frame
			<-ch.done
			return nil, t.childError(ctx)
		case f.Kind == jsworld.FrameAsk && f.ID == 0:
			t.call.notify(ctx, f.Op, f.Body)
		case f.Kind == jsworld.FrameAsk:
			t.beginHostCall()
			hostCalls.Go(func() { t.answerHostCall(ctx, f) })
		case f.Kind == jsworld.FrameResult:
			ch.unusable = !cancelStop() // it may still read the request to stop
			return t.call.result(ctx, f.Body, f.Error)
		}
	}
}

// stop asks the script to stop, and kills the child if it does not.
func (t *childCall) stop() {
	if t.call.Entry != "execute" {
		t.child.kill()
		return
	}
	time.AfterFunc(2*jsworld.Grace, t.child.kill)
	t.child.wire.Send(&jsworld.Frame{Kind: jsworld.FrameStop}) // an error means that the child has ended
}

// prepare waits until the child is ready, and has compiled the script if it did not have it. Neither
// counts as time of the script.
func (t *childCall) prepare(ctx context.Context) error {
	s, ch := t.call.Script, t.child
	defer context.AfterFunc(ctx, ch.kill)()
	if !ch.ready { // first call of the child
		if _, err := ch.wire.Receive(); err != nil {
			ch.kill()
			<-ch.done
			if t.pool.isClosed() {
				return errClosed
			}
			return fmt.Errorf("the JavaScript process did not start (%v): %s", ch.state, ch.stderr.String())
		}
		ch.ready = true
	}
	if ch.programs[s.digest] {
		return nil
	}
	if err := ch.wire.Send(&jsworld.Frame{Kind: jsworld.FrameProgram, Digest: s.digest, Rare: jsworld.Rare{Source: &s.source}}); err != nil {
		return sendError(err)
	}
	ch.programs[s.digest] = true
	ch.programBytes += len(s.source.Text) + len(s.source.Map)
	limit := time.Second + time.Duration(len(s.source.Text))*compileTime
	defer time.AfterFunc(limit, func() { t.expired.Store(true); ch.kill() }).Stop()
	if _, err := ch.wire.Receive(); err != nil {
		ch.kill()
		<-ch.done
		return t.childError(ctx)
	}
	return nil
}

// compileTime limits the compilation of a byte of a script. It is twenty times what a byte of npm
// packages needs, for machines that are busy.
const compileTime = 5 * time.Microsecond

// send sends the call.
func (t *childCall) send() error {
	s := t.call.Script
	return sendError(t.child.wire.Send(&jsworld.Frame{Kind: jsworld.FrameCall, Digest: s.digest, Entry: t.call.Entry, Body: t.call.vars,
		Limit: t.call.limit, Asks: t.call.Ask != nil}))
}

// sendError classifies an error of Send: errors other than jsworld.TooLong mean that the child has
// ended.
func sendError(err error) error {
	if _, tooLong := err.(jsworld.TooLong); tooLong || err == nil {
		return err
	}
	return fmt.Errorf("%w: %w", errStale, err)
}

// beginHostCall registers a pending host call. The first one releases the slot for another call.
func (t *childCall) beginHostCall() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending++; t.pending == 1 && t.hasSlot {
		t.hasSlot = false
		t.pool.releaseSlot()
		t.clock.Pause()
	}
}

// answerHostCall answers a host call. After the last pending one the script continues, and the call
// takes a slot again.
func (t *childCall) answerHostCall(ctx context.Context, f *jsworld.Frame) {
	a := t.call.answer(ctx, f.ID, f.Op, f.Body)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending--; t.pending == 0 && !t.hasSlot && t.pool.acquireSlot(ctx) == nil {
		t.hasSlot = true
		t.clock.Resume()
	}
	if err := t.child.wire.Send(&jsworld.Frame{Kind: jsworld.FrameAnswer, ID: a.ID, Body: a.Value, Rare: jsworld.Rare{Error: a.Error}}); err != nil {
		if long, tooLong := err.(jsworld.TooLong); tooLong {
			t.child.wire.Send(&jsworld.Frame{Kind: jsworld.FrameAnswer, ID: f.ID, Rare: jsworld.Rare{Error: jsworld.Failed(KindThrown, "%v", long)}})
		}
	}
}

// childError returns the error for a child that has ended during the call.
func (t *childCall) childError(ctx context.Context) error {
	ch := t.child
	code, output := ch.state.ExitCode(), ch.stderr.Bytes()
	t.call.lost = !t.pool.isClosed()
	why := KindLost
	message := "the process of the script ended: " + ch.state.String()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case t.expired.Load() || code == jsworld.ExitTimeout:
		why, message = KindTimeout, fmt.Sprintf("the script ran longer than %v", t.call.limit)
	case code == jsworld.ExitMemory || outOfMemory(output):
		why, message = KindMemory, fmt.Sprintf("the script exceeded its memory limit of %d MiB", t.pool.config.Memory>>20)
	case bytes.Contains(output, []byte("stack overflow")):
		why, message = KindMemory, "the script exceeded its stack limit: something is nested too deeply"
	case t.pool.isClosed():
		return errClosed
	case len(output) > 0:
		message += ": " + firstLine(output)
	}
	return &Error{Kind: why, Message: jsworld.Shorten(message), Pos: t.call.Script.text.Pos}
}

// outOfMemory reports whether the Go runtime failed because the system refused it memory. If that
// happens during a garbage collection, the runtime crashes with a segmentation violation.
func outOfMemory(output []byte) bool {
	for _, sign := range []string{"out of memory", "cannot allocate memory", "pthread_create failed", "SIGSEGV: segmentation violation"} {
		if bytes.Contains(output, []byte(sign)) {
			return true
		}
	}
	return false
}

func firstLine(b []byte) string {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return string(line)
}
