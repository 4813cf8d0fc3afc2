package compile

import (
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// goKind compiles steps that are Go functions.
type goKind struct{}

func (goKind) traits() traits { return traits{streams: true, interactive: true} }

func (goKind) compile(c *stepCompiler, s *plan.Step) {
	t := c.step.Body.(*tool.GoCode).Func.(*gostep.GoTool)
	s.Runner, s.OwnWork = gostep.Runner{Tool: t, Outputs: declarations(c.step.Outputs)}, t.Work()
}
