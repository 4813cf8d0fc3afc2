package compile

import (
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// A kind compiles the steps of one kind. A new kind is a file kind_NAME.go and a line here;
// what it reads of a definition is in the table of keys of package tool.
type kind interface {
	// compile makes the step's runner, or the steps that it holds.
	compile(c *stepCompiler, s *plan.Step)
	traits() traits
}

// traits are what differs between kinds in what is compiled for all of them.
type traits struct {
	streams     bool // output.mode: stream works
	interactive bool // interactive works
	idle        bool // it waits: it takes no slot, and beginning once more does no harm
	answered    bool // a person ends it: neither retry nor fallback
	usesTool    bool // what it does is another tool's
}

var kinds = map[tool.Kind]kind{
	tool.Bash:    commandKind{(*stepCompiler).shellBody},
	tool.Sh:      commandKind{(*stepCompiler).shellBody},
	tool.Cmd:     commandKind{(*stepCompiler).shellBody},
	tool.Pwsh:    commandKind{(*stepCompiler).shellBody},
	tool.Python:  commandKind{(*stepCompiler).shellBody},
	tool.Run:     commandKind{(*stepCompiler).programBody},
	tool.Script:  commandKind{(*stepCompiler).scriptBody},
	tool.PerOS:   commandKind{(*stepCompiler).platformCommand},
	tool.UseTool: useToolKind{},
	tool.Group:   groupKind{},
	tool.Waiting: waitKind{},
	tool.Asking:  approveKind{},
	tool.JS:      javaScriptKind{},
	tool.Go:      goKind{},
	tool.Program: programKind{},
}

// noKind is a step whose kind could not be read, which was diagnosed there.
type noKind struct{}

func (noKind) traits() traits                    { return traits{streams: true, interactive: true} }
func (noKind) compile(*stepCompiler, *plan.Step) {}

// kindOf is the kind of a step.
func kindOf(s *tool.Step) kind {
	if k := kinds[s.Kind()]; k != nil {
		return k
	}
	return noKind{}
}
