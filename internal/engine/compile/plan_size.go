package compile

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// defaultPlanSteps is the maximum number of steps in a plan if the Library does not set one.
const defaultPlanSteps = 1_000_000

// countSteps counts the plan's steps and reports the first step that exceeds the maximum. If a nested tool exceeds it by
// itself, this was already reported there.
func (c *compiler) countSteps(p *plan.Plan) {
	limit := int64(c.lib.MaxPlanSteps())
	if limit == 0 {
		limit = defaultPlanSteps
	}
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
		c.errorf("plan-size", at, "use the tool fewer times, or raise limits.max-plan-steps",
			"step %s makes the plan of %s too large: %s steps, at most %d are allowed", s.Def.Name, p.Definition.Name, formatCount(p.Size), limit)
	}
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

// checkDefaultSizes reports defaults that would become too large. A default can refer to others, which refer to further
// ones; their length is computed without creating them.
func (c *compiler) checkDefaultSizes(p *plan.Plan) {
	size := map[string]int{}
	reported := false
	for _, prm := range p.Params { // a parameter comes after those that its default refers to
		if prm.Initial == nil {
			continue
		}
		n := prm.Initial.Size(func(r expr.Ref) int {
			if r.Class == expr.Parameter && len(r.Path) == 0 {
				return size[r.Root]
			}
			return 0
		})
		size[prm.Def.Name] = n
		if n > expr.MaxValue && !reported {
			reported = true // defaults that refer to this one would be too large as well
			at := tool.Text{Pos: prm.Def.Default.Pos}
			c.errorf("value-size", at, "create the value in the step, or pass it in a file",
				"the default of %s would be larger than %d MiB", prm.Def.Name, expr.MaxValue>>20)
		}
	}
}
