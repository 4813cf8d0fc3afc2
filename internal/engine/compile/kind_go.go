package compile

import (
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// goKind compiles steps that are Go functions.
type goKind struct{}

func (goKind) traits() traits { return traits{streams: true, interactive: true} }

func (goKind) compile(c *stepCompiler, s *plan.Step) {
	code := c.step.Body.(*tool.GoCode)
	t := code.Func.(*gostep.GoTool)
	reads := c.results(code.Reads)
	s.Runner, s.OwnWork = gostep.Runner{Tool: t, Outputs: declarations(c.step.Outputs), Reads: reads}, t.Work()
	if code.Fallback != nil {
		s.Policy.Fallback = gostep.Runner{Tool: code.Fallback.(*gostep.GoTool), Reads: reads}
	}
	if code.When != nil {
		s.Decide = code.When.(gostep.Condition).On(reads)
	}
}

// results compiles references to the results of steps that a function reads. A result that its step does not have, because
// it was skipped, is absent.
func (c *stepCompiler) results(steps []string) (list []plan.WithValue) {
	for _, name := range steps {
		at := tool.Text{S: "{" + name + ".json}"}
		list = append(list, plan.WithValue{Param: name, Value: plan.ValueTemplate{Text: c.text(&at, "reads", expr.Plain)}})
	}
	return list
}
