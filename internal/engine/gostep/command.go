package gostep

import (
	"context"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Command is a command that a step written in Go hands its work to: a StepFunc returns one, and from then on the step
// is that command. It runs like any command of a definition: its output is shown, stored and limited, its whole
// process tree ends when the step is cancelled, and a nonzero exit code fails the step. Set either Args or Script.
type Command struct {
	Args    []string      // program and arguments, started without a shell; nothing in them is expanded
	Script  string        // for the default shell: bash, or cmd on Windows
	Dir     string        // "" is the directory in which the tool's steps start
	Input   string        // standard input
	Timeout time.Duration // 0 means only the timeouts of the step and the run apply
	Detach  bool          // background processes that it leaves outlive the run
	// Answer returns what a model reads if the command succeeds, given its streams up to 10 MB each. If it is nil,
	// the model gets stdout. The step's output is stdout in any case.
	Answer func(stdout, stderr string) *Content
}

// command converts m to the engine's form.
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

// run runs the command as the current attempt of the step.
func (m *Command) run(ctx context.Context, c *dag.Call, outputs []stepfile.Declaration) (dag.Result, error) {
	limited := ctx
	if m.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, m.Timeout, dag.ErrTimeout)
		defer cancel()
	}
	command := m.command()
	command.Outputs = outputs
	res, err := command.Run(limited, c)
	switch {
	case err != nil:
		return res, err
	case res.Status == dag.Succeeded && m.Answer != nil:
		res.Content = m.Answer(call.Raw(res.Stdout), call.Raw(res.Stderr)).masked(call.FrameOf(c.Args()).Session().Mask())
	case res.Status != dag.Succeeded && limited.Err() != nil && ctx.Err() == nil:
		res.Status, res.ExitCode, res.Reason = dag.TimedOut, dag.ExitTimeout, dag.ReasonTimeout
		res.Message = fmt.Sprintf("it did not end within %v", m.Timeout)
	}
	return res, nil
}
