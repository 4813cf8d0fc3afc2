package steps

import (
	"fmt"

	"github.com/flowrun/flowrun/dag"
)

// Reuse returns the Result of a command that need not run, because the output of an earlier run of
// it is kept. stdout and stderr are files with that output, "" if nothing was printed. They become
// logs of this step, and references read them like any output. If the output contains what is
// secret now, the error wraps dag.ErrWithheld.
func (c *Command) Reuse(call *dag.Call, stdout, stderr string) (dag.Result, error) {
	t, err := c.newAttempt(call)
	if err != nil {
		return dag.Result{}, err
	}
	r := dag.Result{Status: dag.Reused}
	for _, s := range []struct {
		which Streams
		file  string
		out   **dag.Output
	}{{Stdout, stdout, &r.Stdout}, {Stderr, stderr, &r.Stderr}} {
		if s.file == "" {
			continue
		}
		if *s.out, err = t.session.keeper.Adopt(call.Path, call.Attempt, s.which.log(), s.file, t.outputLimits(s.which), t.NoTruncation); err != nil {
			return dag.Result{}, fmt.Errorf("cannot reuse the output of step %s: %w", call.Path, err)
		}
	}
	return r, nil
}
