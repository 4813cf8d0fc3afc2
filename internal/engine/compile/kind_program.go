package compile

import (
	"context"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

type callNames struct{}

// Symbol implements expr.Names.
func (callNames) Symbol(id string) expr.Symbol {
	if id != plan.CallInput {
		return expr.Symbol{}
	}
	return expr.Symbol{Class: expr.Arguments}
}

// callTemplate is the standard input of every such command.
var callTemplate = sync.OnceValue(func() *expr.Template {
	t, _ := expr.ParseTemplate("{"+plan.CallInput+"}", expr.Plain, callNames{})
	return t
})

// programKind compiles steps that call a tool listed by a discovery command.
type programKind struct{}

func (programKind) traits() traits { return traits{streams: true, interactive: true} }

func (programKind) compile(c *stepCompiler, s *plan.Step) {
	call := c.step.Body.(*tool.ProgramCall)
	s.Command = c.baseCommand(expr.LiteralArgv(call.Argv), "")
	s.Command.Dir, s.Command.Input = expr.Literal(call.Dir), callTemplate()
	c.useParameter(plan.AnyArgument)
	s.Runner = s.Command
	if call.StderrFails {
		s.Runner = stderrFailsCommand{s.Command}
	}
}

// stderrFailsCommand is a command that fails if it writes to its standard error, whatever its exit code.
type stderrFailsCommand struct{ *steps.Command }

// Around returns the command.
func (q stderrFailsCommand) Around() *steps.Command { return q.Command }

// Run implements dag.Runner.
func (q stderrFailsCommand) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	res, err := q.Command.Run(ctx, c)
	if err == nil && res.Status == dag.Succeeded && res.Stderr != nil && res.Stderr.Size > 0 {
		res.Status, res.Reason = dag.Failed, dag.ReasonExit
		res.Message = "it printed an error, and tools.callStderr is fail"
	}
	return res, err
}
