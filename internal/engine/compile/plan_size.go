package compile

import (
	"cmp"
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/compile/check"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// defaultPlanSteps is the maximum number of steps in a plan if the Library does not set one.
const defaultPlanSteps = 1_000_000

// countSteps sets the size of the plan and reports the first step that exceeds the maximum, 0: the default. If a nested tool exceeds it by
// itself, this was already reported there.
func countSteps(p *plan.Plan, most int) (ds tool.Diagnostics) {
	limit := cmp.Or(int64(most), defaultPlanSteps)
	reported := false
	for _, s := range p.Steps {
		p.Size = min(p.Size+sizeOf(s), plan.MaxSize)
		if p.Size <= limit || reported {
			continue
		}
		reported = true
		if inner := s.Nested; inner != nil && !inner.Group && inner.Size > limit {
			continue
		}
		at := tool.Text{Pos: s.Def.Pos}
		if use, ok := s.Def.Body.(*tool.ToolUse); ok {
			at = use.Tool
		}
		ds = append(ds, check.Errorf("plan-size", at, "use the tool fewer times, or raise limits.max-plan-steps",
			"step %s makes the plan of %s too large: %s steps, at most %d are allowed", s.Def.Name, p.Definition.Name, formatCount(p.Size), limit))
	}
	return ds
}

// sizeOf returns the number of steps that a step counts for, including nested ones and all items of a loop.
func sizeOf(s *plan.Step) int64 {
	n := int64(1)
	if s.Nested != nil {
		if s.Nested.Group {
			for _, in := range s.Nested.Steps {
				s.Nested.Size = min(s.Nested.Size+sizeOf(in), plan.MaxSize)
			}
		}
		n += s.Nested.Size
	}
	if s.Loop != nil {
		n = 1 + min(n*s.Loop.Known(), plan.MaxSize)
	}
	return min(n, plan.MaxSize)
}

func formatCount(n int64) string {
	if n >= plan.MaxSize {
		return "more than two billion"
	}
	return fmt.Sprint(n)
}
