package gostep

import (
	"context"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/steps"
)

// Command is a command that a step written in Go leaves its work to: a StepFunc returns
// one, and the step is that command from then on. It runs as any command of a definition
// does: its output is shown, kept and bounded, its whole tree of processes ends when the
// step is cancelled, and it fails with its exit code. One of Args and Script is set.
type Command struct {
	Args    []string      // program and arguments, started without a shell; nothing in them is looked at
	Script  string        // for the system's shell: bash, cmd on Windows
	Dir     string        // "" is the folder in which the tool's steps start
	Input   string        // on its standard input
	Timeout time.Duration // 0 is none but those of the step and the run
	Detach  bool          // what it leaves in the background outlives the run
	// Answer makes what a model is told where it succeeded, of its streams up to 10 MB
	// each; nil: stdout is all. The step's output is stdout in any case.
	Answer func(stdout, stderr string) *Content
}

// command is the command as the engine has it.
func (m *Command) command() *steps.Command {
	c := &steps.Command{Keep: steps.Stdout | steps.Stderr, Detach: m.Detach}
	if len(m.Args) > 0 {
		c.Template = expr.LiteralArgv(m.Args)
	} else {
		c.Shell = plan.DefaultShell()
		c.Template = expr.LiteralScript(m.Script, plan.ShellOf(c.Shell))
	}
	if m.Dir != "" {
		c.Dir = expr.Literal(m.Dir)
	}
	if m.Input != "" {
		c.Input = expr.Literal(m.Input)
	}
	return c
}

// run runs the command as the try that asked for it.
func (m *Command) run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	limited := ctx
	if m.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, m.Timeout, dag.ErrTimeout)
		defer cancel()
	}
	res, err := m.command().Run(limited, c)
	switch {
	case err != nil:
		return res, err
	case res.Status == dag.Succeeded && m.Answer != nil:
		res.Content = m.Answer(call.Raw(res.Stdout), call.Raw(res.Stderr)).masked(c.Args().(*call.Frame).Session().Mask())
	case res.Status != dag.Succeeded && limited.Err() != nil && ctx.Err() == nil:
		res.Status, res.ExitCode, res.Reason = dag.TimedOut, dag.ExitTimeout, dag.ReasonTimeout
		res.Message = fmt.Sprintf("it did not end within %v", m.Timeout)
	}
	return res, nil
}
