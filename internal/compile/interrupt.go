package plan

import (
	"cmp"
	"slices"

	"github.com/flowrun/flowrun/tool"
)

// Interrupt is what becomes of a step that was running when its engine died
// (design: Durability). The values are those of on-interrupt.
type Interrupt string

const (
	AskWhenInterrupted   Interrupt = "ask"   // a person decides
	RetryWhenInterrupted Interrupt = "retry" // it runs again
	FailWhenInterrupted  Interrupt = "fail"  // it counts as failed for good
)

// Interruption is what holds for a step: what it says itself, else what its tool
// says, else what the step says that uses the tool; else a tool that only reads is
// tried again, and for any other a person is asked.
func Interruption(def *tool.Definition, s *tool.Step, said Interrupt) Interrupt {
	own := cmp.Or(Interrupt(s.OnInterrupt), idempotent(s.Idempotent != nil && *s.Idempotent, s.Idempotent != nil))
	wide := cmp.Or(Interrupt(def.OnInterrupt), idempotent(def.Idempotent, def.Idempotent))
	if s.Kind == tool.Waiting || s.Kind == tool.Asking { // beginning to wait once more does no harm
		return cmp.Or(own, RetryWhenInterrupted)
	}
	if s.Script != nil && (s.Script.Role == tool.RolePre || s.Script.Role == tool.RolePost) { // it can change nothing outside
		return cmp.Or(own, RetryWhenInterrupted)
	}
	if s.Kind == tool.UseTool {
		return cmp.Or(own, wide, said) // the tool it uses may say something else
	}
	return cmp.Or(own, wide, said, idempotent(slices.Contains(def.Tags, "read"), true))
}

// idempotent is what idempotent: means, where it is said.
func idempotent(yes, said bool) Interrupt {
	switch {
	case !said:
		return ""
	case yes:
		return RetryWhenInterrupted
	}
	return AskWhenInterrupted
}
