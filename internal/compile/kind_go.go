package compile

import (
	"github.com/flowrun/flowrun/internal/gostep"
	"github.com/flowrun/flowrun/internal/plan"
)

// goKind is a step written in Go.
type goKind struct{}

func (goKind) traits() traits { return traits{streams: true, interactive: true} }

func (goKind) compile(c *stepCompiler, s *plan.Step) {
	s.Runner, s.Ours = gostep.Runner{Tool: c.step.Go.(*gostep.GoTool)}, plan.WorkInGo
}
