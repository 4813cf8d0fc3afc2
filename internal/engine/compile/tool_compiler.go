package compile

import (
	"github.com/flowrun/flowrun/internal/engine/compile/check"
	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// toolCompiler compiles the texts and the steps of one definition into its plan. The tools that its steps use are
// compiled later, when it is known whether their output is read.
type toolCompiler struct {
	*texts.Parser
	plan        *plan.Plan
	names       texts.Names
	keptStreams map[string]steps.Streams // streams that steps must keep for others, by name
	artifacts   []check.Reference        // references to artifacts of steps
}

func (c *toolCompiler) compile(inherited plan.Interrupt) {
	c.parameters()
	c.toolWide()
	c.permissions()
	def := c.plan.Definition
	all := &sequenceCompiler{tool: c, steps: def.Steps, path: "steps", names: c.names, inherited: inherited}
	c.plan.Steps = all.compile()
	c.plan.Steps = append(c.plan.Steps, all.compileHandlers(nil, &def.Handlers, "")...)
	c.keepForResults(c.plan)
	if c.plan.Output != nil {
		c.artifacts = append(c.artifacts, artifactReferences(*def.Output, c.plan.Output.Refs())...)
	}
}

// keepForResults keeps the streams that the output and the declared outputs of a tool, or of a group, read.
func (c *toolCompiler) keepForResults(p *plan.Plan) {
	for name, streams := range p.ReadAtEnd() {
		c.keptStreams[name] |= streams
	}
}
