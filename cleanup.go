package flowrun

import (
	"context"
	"fmt"
	"os"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/steps"
)

// cleanup runs a tool's resources.cleanup after everything else, whatever
// happened (S1-194): every final command, then the temporary directory goes. A
// failure is a warning in the run's result and keeps nothing else from running.
type cleanup struct {
	commands []*steps.Command
}

func (u *cleanup) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	res := dag.Result{Status: dag.Succeeded}
	for i, cmd := range u.commands {
		call := *c
		call.Path = dag.ID(fmt.Sprintf("%s-%d", c.Path, i+1))
		r, err := cmd.Run(ctx, &call)
		if err != nil {
			return r, err
		}
		if r.Stdout != nil {
			res.Stdout = r.Stdout
		}
		if r.Status != dag.Succeeded {
			res = dag.Result{Status: dag.Failed, ExitCode: r.ExitCode, Reason: r.Reason, Stdout: r.Stdout, Stderr: r.Stderr,
				Message: fmt.Sprintf("cleanup command %d failed with exit code %d", i+1, r.ExitCode)}
		}
	}
	if temp := c.Args().(*Args).temp; temp != "" {
		if err := os.RemoveAll(temp); err != nil {
			res = dag.Result{Status: dag.Failed, ExitCode: 1, Message: fmt.Sprintf("cannot remove the temporary directory: %v", err)}
		}
	}
	return res, nil
}
