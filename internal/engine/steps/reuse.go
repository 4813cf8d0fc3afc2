package steps

import (
	"errors"
	"fmt"
	"os"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/os/proc"
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
		if *s.out, err = t.reuse(s.which, s.file); err != nil {
			return dag.Result{}, fmt.Errorf("cannot reuse the output of step %s: %w", call.Path, err)
		}
	}
	return r, nil
}

func (t *attempt) reuse(which Streams, file string) (*dag.Output, error) {
	f, err := proc.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	secret, err := t.session.mask.Holds(f)
	switch {
	case err != nil:
		return nil, err
	case secret:
		return nil, dag.ErrWithheld
	}
	state, err := fileState(f)
	if err != nil {
		return nil, err
	}
	out, err := readOutput(f, state.Size, t.outputLimits(which))
	switch {
	case err != nil || out == nil:
		return nil, err
	case out.Truncated && t.NoTruncation:
		return nil, errors.New("it exceeds the buffer-limit of the step")
	case t.session.options.Recorded && out.Whole(), t.session.options.LogDir == "" && out.Size <= dag.InlineLimit:
		return out, nil
	}
	dir, err := t.session.logFolder()
	if err != nil {
		return nil, err
	}
	out.File, err = rundir.AdoptLog(dir, t.call.Path, t.call.Attempt, which.log(), file)
	return out, err
}
