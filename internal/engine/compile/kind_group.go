package compile

import (
	"github.com/flowrun/flowrun/internal/engine/plan"
)

// groupKind compiles steps that contain steps.
type groupKind struct{}

func (groupKind) traits() traits { return traits{} }

// compile compiles the steps of a group. They have a graph of their own inside that of the tool, and can refer to the
// same names as the step of the group.
func (groupKind) compile(c *stepCompiler, s *plan.Step) {
	c.reportInertKeys("a group of steps", "move it to the steps of the group")
	inner := &sequenceCompiler{tool: c.tool, steps: c.step.Steps(), path: c.key("steps"), names: c.names.WithSteps(c.step.Steps()), inherited: c.inherited}
	s.Nested = &plan.Plan{Definition: c.definition, Group: true}
	s.Nested.Steps = inner.compile()
	s.Nested.Outputs = outputs(c.Parser, c.step.Outputs, c.key("outputs"), inner.names)
	c.tool.keepForResults(s.Nested)
	c.edges = append(c.edges, inner.outerEdges...)
	for _, in := range s.Nested.Steps {
		for name, streams := range in.Mentioned {
			c.mention(name, streams)
		}
		for name := range in.Uses {
			c.useParameter(name)
		}
	}
}
