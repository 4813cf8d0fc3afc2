package steps

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// Work is one try of a step that this program does itself, where a command would have a
// process.
type Work struct {
	Env []string // K=V, as a command of the step would have it

	ctx     context.Context // of the try
	attempt *attempt
	mu      sync.Mutex
	ended   bool
}

// Do has do called in place of a process, with the command's environment and masked
// values. What do prints is kept, masked, shown, bounded and streamed as a process's
// output would be. Template, Shell, Strict, Input, Interactive and Detach have no meaning
// then. What do returns is the step's Result, to which the streams are added; its Message
// is masked. When the system is short of descriptors it waits, until ctx ends. An error of do
// is what kept the engine from doing its job.
func (c *Command) Do(ctx context.Context, call *dag.Call, do func(*Work) (dag.Result, error)) (dag.Result, error) {
	t, err := c.newAttempt(call)
	if err != nil {
		return dag.Result{}, err
	}
	defer t.cleanUp()
	err = t.session.retryShortage(ctx, t.call.Path, func() error {
		err := t.prepareWork()
		if shortage(err) {
			t.reset()
		}
		return err
	})
	switch {
	case err != nil && ctx.Err() != nil: // the caller makes a timeout or a cancel of it
		return dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}, nil
	case err != nil:
		return t.failure(startFailure(err))
	}
	w := &Work{Env: t.env, ctx: ctx, attempt: t}
	r, err := do(w)
	w.end()
	if err == nil {
		err = t.addOutput(&r)
	}
	if err != nil {
		return dag.Result{}, err
	}
	r.Message = t.session.mask.String(r.Message)
	return r, nil
}

// prepareWork readies all but the command itself.
func (t *attempt) prepareWork() error {
	if err := t.addSecrets(); err != nil {
		return err
	}
	if err := t.directory(); err != nil {
		return err
	}
	if err := t.environment(); err != nil {
		return err
	}
	return t.openFile()
}

// Print writes to one of the step's streams, Stdout or Stderr. It may be called by several
// goroutines at once; after the work has ended it does nothing.
func (w *Work) Print(which Streams, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || text == "" {
		return nil
	}
	st, err := w.attempt.openedStream(w.ctx, which)
	if err != nil {
		return err
	}
	if _, err := st.end.WriteString(text); err != nil {
		return fmt.Errorf("cannot write a log file: %w", err)
	}
	if w.attempt.session.options.LogDir != "" {
		st.file.show()
	}
	return nil
}

// end lets nobody print any more.
func (w *Work) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
}

// openedStream is one of the try's streams, made when it is first printed on.
func (t *attempt) openedStream(ctx context.Context, which Streams) (*stream, error) {
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
			st.discard()
			st = nil
		}
		*at = st
		return err
	})
	return *at, err
}

// addOutput adds to a Result what was printed.
func (t *attempt) addOutput(r *dag.Result) error {
	private := t.session.options.LogDir == ""
	by := time.Now().Add(outputTimeout)
	for i, to := range [2]**dag.Output{&r.Stdout, &r.Stderr} {
		st := t.streams[i]
		if st == nil {
			continue
		}
		st.end.Close()
		st.waitForEnd(by)
		t.streams[i] = nil // output gives it back
		out, err := st.output(t.session, t.outputLimits(st.which), private)
		if err != nil {
			return err
		}
		if *to = out; out != nil && out.Truncated && t.NoTruncation && r.Status == dag.Succeeded {
			r.Status, r.Reason, r.ExitCode, r.Message = dag.Failed, ReasonOutputTooLarge, 1, t.tooLargeMessage()
		}
	}
	return nil
}
