package compile

import (
	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// compiler holds the state of one call of Tool or Definition: the tools that were found, and the plans made of them.
type compiler struct {
	texts.Parser
	lib      *library.Library
	release  string
	chain    []string // tools being compiled, outermost first
	compiled map[nestedKey]*plan.Plan
	sources  []tool.Source
	found    map[plan.Name]*tool.Definition
}

func newCompiler(lib *library.Library, release string) *compiler {
	return &compiler{lib: lib, release: release, compiled: map[nestedKey]*plan.Plan{}, found: map[plan.Name]*tool.Definition{}}
}

// nestedKey identifies one way to use a tool: whether its output is read, and the interruption setting of the step that
// uses it.
type nestedKey struct {
	def        *tool.Definition
	outputRead bool
	interrupt  plan.Interrupt
}
