package compile

import (
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// kind compiles the steps of one kind: most with the texts of the step alone, others with command or baseCommand too. To
// add one, add a file kind_NAME.go and a line in kinds; its keys are in the table of keys of package tool.
type kind interface {
	// compile sets the step's runner, or compiles the steps that it contains.
	compile(c *stepCompiler, s *plan.Step)
	traits() traits
}

// traits are the differences between kinds that matter for the code that all kinds share.
type traits struct {
	streams       bool // output.mode: stream has an effect
	interactive   bool // interactive has an effect
	remote        bool // ssh has an effect
	waits         bool // the step only waits: it needs no slot, and starting it again has no effects
	endedByPerson bool // a person ends the step: no retry and no fallback
	usesTool      bool // the step runs another tool
}

var kinds = map[tool.Kind]kind{
	tool.Bash:    commandKind{},
	tool.Sh:      commandKind{},
	tool.Cmd:     commandKind{},
	tool.Pwsh:    commandKind{},
	tool.Python:  commandKind{},
	tool.Run:     commandKind{},
	tool.Script:  commandKind{},
	tool.PerOS:   commandKind{},
	tool.UseTool: useToolKind{},
	tool.Group:   groupKind{},
	tool.Waiting: waitKind{},
	tool.Asking:  approveKind{},
	tool.Request: httpKind{},
	tool.Query:   sqlKind{},
	tool.JS:      javaScriptKind{},
	tool.Go:      goKind{},
	tool.Program: programKind{},
}

// noKind is for steps without a valid body. The decoder has already reported them.
type noKind struct{}

func (noKind) traits() traits                    { return traits{streams: true, interactive: true} }
func (noKind) compile(*stepCompiler, *plan.Step) {}

// kindOf returns the kind of a step.
func kindOf(s *tool.Step) kind {
	if k := kinds[s.Kind()]; k != nil {
		return k
	}
	return noKind{}
}
