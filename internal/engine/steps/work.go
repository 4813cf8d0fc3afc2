package steps

import (
	"context"
	"fmt"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/output"
)

// Work is one attempt of a step that flowrun executes itself, without a process.
type Work struct {
	Env []string // K=V, the environment that a command of the step would have

	ctx   context.Context // of the attempt
	start *start
	mu    sync.Mutex
	ended bool
}

// Do calls do in place of a process, with the environment and the masked values of the command.
// What do prints is kept, masked, shown, limited and streamed like the output of a process.
// Template, Shell, Strict, Input, Interactive and Detach are ignored. do returns the Result of the
// step; Do masks its Message and adds the streams. If the system is short of descriptors, Do waits
// for up to ten seconds. An error of do is an error of flowrun, not of the step.
func (c *Command) Do(ctx context.Context, call *dag.Call, do func(*Work) (dag.Result, error)) (dag.Result, error) {
	t, err := c.newAttempt(call)
	if err != nil {
		return dag.Result{}, err
	}
	s, err := t.open(ctx, (*start).prepareWork)
	switch {
	case err != nil && ctx.Err() != nil: // the caller turns it into a timeout or a cancellation
		return dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}, nil
	case err != nil:
		return t.failure(startFailure(err))
	}
	defer s.cleanUp()
	w := &Work{Env: s.env, ctx: ctx, start: s}
	r, err := do(w)
	w.end()
	if err == nil {
		err = s.addOutput(&r)
	}
	if err != nil {
		return dag.Result{}, err
	}
	s.limits.explain(&r, false)
	r.Message = t.session.mask.String(r.Message)
	return r, nil
}

// prepareWork prepares everything except the command itself.
func (t *start) prepareWork() (err error) {
	if err := t.addSecrets(); err != nil {
		return err
	}
	if t.dir, err = t.workingDirectory(); err != nil {
		return err
	}
	if err := t.environment(); err != nil {
		return err
	}
	return t.openFile()
}

// Print writes to one of the streams of the step, Stdout or Stderr. Safe for concurrent use. After
// the work has ended it does nothing.
func (w *Work) Print(which Streams, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || text == "" {
		return nil
	}
	st, err := w.start.openedStream(w.ctx, which)
	if err != nil {
		return err
	}
	if _, err := st.End.WriteString(text); err != nil {
		return fmt.Errorf("cannot write a log file: %w", err)
	}
	w.start.times.Printed(st)
	return nil
}

// end makes Print do nothing from now on.
func (w *Work) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
}

// openedStream returns a stream of the attempt. It opens the stream on first use.
func (t *start) openedStream(ctx context.Context, which Streams) (*output.Stream, error) {
	at := &t.streams[0]
	if which == Stderr {
		at = &t.streams[1]
	}
	if *at != nil {
		return *at, nil
	}
	err := t.session.retryShortage(ctx, t.call.Path, func() error {
		st, err := t.openStream(which, !t.session.mask.Empty())
		if err != nil && st != nil {
			st.Discard()
			st = nil
		}
		*at = st
		if err == nil {
			t.timesOf(st)
		}
		return err
	})
	return *at, err
}

// openStream opens a stream of the attempt. With viaPipe, flowrun copies what is printed.
func (t *start) openStream(which Streams, viaPipe bool) (*output.Stream, error) {
	o := output.Opening{Step: t.call.Path, Attempt: t.call.Attempt, Kind: which.log(), Terminal: t.dialog.Terminal(), ViaPipe: viaPipe,
		Limits: t.outputLimits(which), Counter: t.printed, Relay: t.relayOf(which)}
	if t.session.options.Follow != nil && o.Terminal == nil { // what belongs to the output of a terminal is known only at the end
		o.Follow = t.session.options.Follow(t.call.Path, which)
	}
	return t.session.keeper.Open(o)
}

// timesOf adds a stream that was opened to those whose times are recorded.
func (t *start) timesOf(st *output.Stream) {
	if t.times == nil {
		t.times = t.session.keeper.NewTimes(t.call.Path, t.call.Attempt, t.began, t.dialog.Terminal() != nil)
	}
	t.times.Add(st)
}

// addOutput adds the printed output to a Result.
func (t *start) addOutput(r *dag.Result) error {
	for _, st := range t.streams {
		if st != nil {
			st.End.Close()
		}
	}
	tooLarge, err := t.collect(r, false)
	if tooLarge && r.Status == dag.Succeeded {
		t.failTooLarge(r)
	}
	return err
}
