package flowrun

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// A tool that a program told of is called by a command like any other, which is started,
// stopped, masked and logged as such. What is its own is what the command reads, and what
// is told of a failure.

// callInput is the one reference in the input of such a command: all parameters.
const callInput = "CALL"

type callNames struct{}

// Symbol implements expr.Names.
func (callNames) Symbol(id string) expr.Symbol {
	if id != callInput {
		return expr.Symbol{}
	}
	return expr.Symbol{Class: expr.Arguments}
}

// callTemplate is the input of every such command.
var callTemplate, _ = expr.ParseTemplate("{"+callInput+"}", expr.Plain, callNames{})

// program makes the step that calls a tool which a program told of.
func (c *stepCompiler) program(s *planStep) {
	call := c.step.Program
	s.command = c.baseCommand(expr.LiteralArgv(call.Argv), "")
	s.command.Dir, s.command.Input = expr.Literal(call.Dir), callTemplate
	c.usesParameter(anyArgument)
	s.run = s.command
	if call.StderrFails {
		s.run = quietProgram{s.command}
	}
}

// callsProgram says whether the tool is nothing but such a step.
func (p *compiledPlan) callsProgram() bool {
	d := p.Definition
	return d.Single && d.Steps[0].Kind == tool.Program
}

// quietProgram is a command that fails when it prints an error, whatever its exit code.
type quietProgram struct{ *steps.Command }

// Around is the command.
func (q quietProgram) Around() *steps.Command { return q.Command }

// Run implements dag.Runner.
func (q quietProgram) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	res, err := q.Command.Run(ctx, c)
	if err == nil && res.Status == dag.Succeeded && res.Stderr != nil && res.Stderr.Size > 0 {
		res.Status, res.Reason = dag.Failed, dag.ReasonExit
		res.Message = "it printed an error, and tools.callStderr is fail"
	}
	return res, err
}

// inOrder is all that the call was given as one JSON object: the parameters in the order
// in which they are declared, then what is not declared by name. The digits of numbers
// stay as they are.
func (a *callArgs) inOrder() string {
	all := a.All()
	names := make([]string, 0, len(all))
	for _, p := range a.plan.Definition.Parameters {
		if _, given := all[p.Name]; given {
			names = append(names, p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	write := func(v any) {
		enc.Encode(v) // what came in as JSON can be written as such
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		write(name)
		b.WriteByte(':')
		write(all[name])
	}
	b.WriteByte('}')
	return b.String()
}

// mostReported is how much of each stream stands in a report, in bytes: its beginning and
// its end.
const mostReported = 64 << 10

// Report is how the call of a tool failed that a program told of, in five lines for a
// model (S4-034): what it printed on both streams, an error of the call itself, exit code
// and signal. why is the error of a call that was stopped, where the caller knows it
// better than the run. It is "" for other tools, and for calls that succeeded.
func (r *Result) Report(why string) string {
	if !r.called || r.Status == dag.Succeeded || len(r.Steps) == 0 {
		return ""
	}
	s := &r.Steps[0]
	signal := steps.SignalIn(s.Message)
	code, said := strconv.Itoa(s.ExitCode), s.Message
	switch {
	case signal != "":
		code, said = "", ""
	case s.Status == dag.Failed && !ranToItsEnd(s):
		code, said = "", cmp.Or(s.Message, s.Reason)
	case s.Status != dag.Failed:
		code, said = "", cmp.Or(why, s.Message, s.Reason, r.Message)
	}
	return fmt.Sprintf("Stdout: %s\nStderr: %s\nError: %s\nExit Code: %s\nSignal: %s",
		cmp.Or(reported(s.stdout), "(empty)"), cmp.Or(reported(s.stderr), "(empty)"),
		cmp.Or(said, "(none)"), cmp.Or(code, "(none)"), cmp.Or(signal, "(none)"))
}

// ranToItsEnd says whether the exit code is the program's own.
func ranToItsEnd(s *StepResult) bool {
	return s.Status == dag.Succeeded || s.Status == dag.Failed && s.Reason == dag.ReasonExit || s.Reason == steps.ReasonOutputTooLarge
}

// reported is a stream as it stands in a report.
func reported(o *dag.Output) string {
	text, _, _ := whole(o, steps.DefaultLimit)
	text = strings.TrimRight(text, "\n")
	if len(text) <= mostReported {
		return text
	}
	head, tail := upTo(mostReported/2, text), text[len(text)-mostReported/2:]
	tail = strings.ToValidUTF8(tail, "")
	return fmt.Sprintf("%s\n... (%d bytes left out) ...\n%s", head, len(text)-len(head)-len(tail), tail)
}
