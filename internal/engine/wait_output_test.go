package engine_test

import (
	"context"
	"testing"
)

// TestWaitHasNoOutput: a step that waits is never the source of the run's output.
func TestWaitHasNoOutput(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	res := b.run(context.Background(), "steps:\n  - {name: a, run: echo x}\n  - {name: w, wait: {for: 1ms}}\n", nil, withCommands(shell))
	if res.Output != "x\n" {
		t.Errorf("the output of the run is %q", res.Output)
	}
}
