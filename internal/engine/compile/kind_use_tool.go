package compile

import (
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// useToolKind compiles steps that use another tool. The tool itself is compiled later, in compiler.setKeptStreams, when
// it is known whether its output is read.
type useToolKind struct{}

func (useToolKind) traits() traits { return traits{usesTool: true} }

// compile compiles the values for the tool that a step uses. A nested tool sees only its own parameters and environment,
// so keys of the step that would change them are rejected.
func (useToolKind) compile(c *stepCompiler, s *plan.Step) {
	c.reportInertKeys("a step that uses a tool: the tool has its own", "add a parameter for it to the tool, and set the parameter under with:", "artifacts")
	if list := c.step.Artifacts; len(list) > 0 {
		c.noEffect(list[0].Pos, "artifacts", "artifacts has no effect on a step that uses a tool",
			"add artifacts to the steps of the tool; {"+c.step.Name+".artifacts.NAME} refers to them")
	}
	note := func(at tool.Text, refs []expr.Ref) {
		c.addReferences(at, refs)
		warnUndeclared(c.stepTexts, at, refs)
	}
	key := c.tool.plan.WithKey()
	use := s.Def.Body.(*tool.ToolUse)
	for _, e := range use.With {
		s.With = append(s.With, plan.WithValue{Param: e.Key, Value: c.Value(e.Value, key+"."+e.Key, valueNames(c.stepTexts), note)})
	}
	if all := use.WithAll; all != nil {
		t := c.Value(tool.Value{Pos: all.Pos, Scalar: all.S, Text: all}, key, valueNames(c.stepTexts), note)
		s.WithAll = &t
	}
}
