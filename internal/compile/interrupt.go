package compile

import (
	"cmp"
	"slices"

	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// interruption is what holds for a step: what it says itself, else what its tool
// says, else what the step says that uses the tool; else a tool that only reads is
// tried again, and for any other a person is asked.
func interruption(def *tool.Definition, step *plan.Step, said plan.Interrupt) plan.Interrupt {
	s := step.Def
	own := cmp.Or(plan.Interrupt(s.OnInterrupt), idempotent(s.Idempotent != nil && *s.Idempotent, s.Idempotent != nil))
	wide := cmp.Or(plan.Interrupt(def.OnInterrupt), idempotent(def.Idempotent, def.Idempotent))
	if step.NoSlot { // beginning to wait once more does no harm
		return cmp.Or(own, plan.RetryWhenInterrupted)
	}
	if code := s.Script(); code != nil && (code.Role == tool.RolePre || code.Role == tool.RolePost) { // it can change nothing outside
		return cmp.Or(own, plan.RetryWhenInterrupted)
	}
	if step.UsesTool {
		return cmp.Or(own, wide, said) // the tool it uses may say something else
	}
	return cmp.Or(own, wide, said, idempotent(slices.Contains(def.Tags, "read"), true))
}

// idempotent is what idempotent: means, where it is said.
func idempotent(yes, said bool) plan.Interrupt {
	switch {
	case !said:
		return ""
	case yes:
		return plan.RetryWhenInterrupted
	}
	return plan.AskWhenInterrupted
}
