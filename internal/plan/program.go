package plan

import (
	"github.com/flowrun/flowrun/tool"
)

// A tool that a program told of is called by a command like any other, which is started,
// stopped, masked and logged as such. What is its own is what the command reads, and what
// is told of a failure.

// CallInput is the one reference in the input of such a command: all parameters.
const CallInput = "CALL"

// CallsProgram says whether the tool is nothing but such a step.
func (p *Plan) CallsProgram() bool {
	d := p.Definition
	return d.Single && d.Steps[0].Kind == tool.Program
}
