package compile

import (
	"cmp"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// interruption returns what happens to a step that was interrupted. The first of these that is set applies: the step's
// own setting, that of its tool, and that of the step that uses the tool (inherited). If none is set, steps of a tool
// with the tag read are retried, and for all others a person is asked.
func interruption(def *tool.Definition, step *plan.Step, inherited plan.Interrupt) plan.Interrupt {
	s := step.Def
	own := cmp.Or(plan.Interrupt(s.OnInterrupt), idempotent(s.Idempotent != nil && *s.Idempotent, s.Idempotent != nil))
	wide := cmp.Or(plan.Interrupt(def.OnInterrupt), idempotent(def.Idempotent, def.Idempotent))
	if step.NoSlot { // a step that waits has no effects, so it can start again
		return cmp.Or(own, plan.RetryWhenInterrupted)
	}
	if code := s.Script(); code != nil && (code.Role == tool.RolePre || code.Role == tool.RolePost) { // pre- and post-processing have no effects outside the script
		return cmp.Or(own, plan.RetryWhenInterrupted)
	}
	if r, ok := step.Runner.(interface{ Idempotent() bool }); ok && r.Idempotent() { // a second time has the effect of one
		return cmp.Or(own, wide, inherited, plan.RetryWhenInterrupted)
	}
	if step.UsesTool {
		return cmp.Or(own, wide, inherited) // the tool that the step uses may have a setting of its own
	}
	return cmp.Or(own, wide, inherited, idempotent(slices.Contains(def.Tags, "read"), true))
}

// idempotent returns the setting that idempotent: stands for, or "" if it is not set.
func idempotent(yes, isSet bool) plan.Interrupt {
	switch {
	case !isSet:
		return ""
	case yes:
		return plan.RetryWhenInterrupted
	}
	return plan.AskWhenInterrupted
}
