package compile

import (
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// useToolKind is a step that uses another tool, which is compiled when it is known who reads
// its output (compiler.keep).
type useToolKind struct{}

func (useToolKind) traits() traits { return traits{usesTool: true} }

func (useToolKind) compile(c *stepCompiler, s *plan.Step) { c.with(s) }

// with compiles the values for the tool a step uses. A nested tool sees its own
// parameters and environment only, so keys that would reach into it are refused.
func (c *stepCompiler) with(s *plan.Step) {
	c.inert("a step that uses a tool: the tool has its own", "add a parameter for it to the tool, and set the parameter under with:")
	note := func(at tool.Text, refs []expr.Ref) {
		c.note(at, refs)
		c.undeclared(at, refs)
	}
	key := c.plan.WithKey()
	use := s.Def.Body.(*tool.ToolUse)
	for _, e := range use.With {
		s.With = append(s.With, plan.WithValue{Param: e.Key, Value: c.tree(e.Value, key+"."+e.Key, c.values(), note)})
	}
	if all := use.WithAll; all != nil {
		t := c.tree(tool.Value{Pos: all.Pos, Scalar: all.S, Text: all}, key, c.values(), note)
		s.WithAll = &t
	}
}
