package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
)

// TestResultErrorIs checks that errors.Is finds the errors of package context in the error
// of a run that was cancelled or took too long.
func TestResultErrorIs(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	const sleeps = "steps:\n  - name: s\n    bash: sleep 300\n"
	own := errors.New("the client has left")
	for name, c := range map[string]struct {
		text   string
		status dag.Status
		is     []error
		isNot  []error
	}{
		"timeout of the tool": {text: "timeout: 10ms\n" + sleeps, status: dag.TimedOut,
			is: []error{context.DeadlineExceeded}, isNot: []error{context.Canceled}},
		"timeout of one command": {text: "timeout: 10ms\nbash: sleep 300\n", status: dag.TimedOut,
			is: []error{context.DeadlineExceeded}, isNot: []error{context.Canceled}},
		"failed": {text: "bash: exit 3\n", status: dag.Failed,
			isNot: []error{context.DeadlineExceeded, context.Canceled}},
		"cancelled with a cause": {text: sleeps, status: dag.Cancelled,
			is: []error{context.Canceled, own}, isNot: []error{context.DeadlineExceeded}},
		"deadline of the caller": {text: sleeps, status: dag.Cancelled,
			is: []error{context.DeadlineExceeded}, isNot: []error{context.Canceled}},
	} {
		t.Run(name, func(t *testing.T) {
			b := *b
			b.T = t
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			options := []engine.RunOption{withCommands(shell)}
			switch name {
			case "cancelled with a cause":
				options = append(options, cancelAt("s", func() { cancel(own) }))
			case "deadline of the caller":
				var stop func()
				ctx, stop = context.WithTimeout(ctx, 20*time.Millisecond)
				defer stop()
			}
			res := b.run(ctx, c.text, nil, options...)
			if res.Status != c.status {
				t.Fatal(res.Status, res.Message)
			}
			for _, target := range c.is {
				if !errors.Is(res.Err(), target) {
					t.Errorf("%v is not %v", res.Err(), target)
				}
			}
			for _, target := range c.isNot {
				if errors.Is(res.Err(), target) {
					t.Errorf("%v is %v", res.Err(), target)
				}
			}
		})
	}
}
