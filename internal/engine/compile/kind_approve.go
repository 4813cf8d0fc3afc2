package compile

import (
	"strings"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// approveKind compiles steps that ask a person.
type approveKind struct{}

func (approveKind) traits() traits { return traits{waits: true, endedByPerson: true} }

func (approveKind) compile(c *stepCompiler, s *plan.Step) {
	c.reportInertKeys("a step that asks a person", "move it to a step with a command")
	def := c.step.Body.(*tool.Approve)
	s.NoOutput = def.Form == nil
	at := ""
	if def.Prompt.Pos != def.Pos {
		at = ".prompt"
	}
	t := c.text(&def.Prompt, "approve"+at, expr.Plain)
	if t == nil {
		return
	}
	missing := def.Prompt.Pos.Line == 0 && def.Pos.Line > 0 // reported when the file was read
	if strings.TrimSpace(def.Prompt.S) == "" && !missing {
		c.Report(tool.Diagnostic{Code: "no-prompt", Severity: tool.Error, Pos: def.Prompt.Pos, Path: c.key("approve" + at),
			Message: "the approval has no question", Hint: "write the question to show"})
	}
	if h := c.step.ErrorHandling; h.Retry != nil || h.Fallback != nil {
		c.noEffect(c.step.Pos, "error-handling", "error-handling has no effect on a step that asks a person: an answer is final",
			"remove it; to react to a rejection, use on-failure")
	}
	s.Runner = &waiting.Approval{Def: def, Prompt: t}
}
