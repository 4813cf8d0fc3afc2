package check

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// LockLevels reports a run that holds locks while its steps wait for others: two such runs could wait for each
// other forever.
func LockLevels(p *plan.Plan) tool.Diagnostics {
	var wide, step *tool.Lock
	for _, t := range p.Tools() {
		if locks := t.Definition.Locks; len(locks) > 0 && wide == nil {
			wide = &locks[0]
		}
	}
	for _, x := range p.Claims {
		if len(x.Locks) > 0 && step == nil {
			step = &x.Locks[0]
		}
	}
	if wide == nil || step == nil {
		return nil
	}
	return tool.Diagnostics{{Code: "two-lock-levels", Severity: tool.Error, Pos: step.Name.Pos, Len: max(1, len([]rune(step.Name.S))),
		Message: fmt.Sprintf("a step cannot wait for the lock %s while its run holds the lock %s: two such runs could wait for each other forever", step.Name.S, wide.Name.S),
		Hint:    "write all locks on the tool, or all of them on steps",
		Related: []tool.Place{{Pos: wide.Name.Pos, Len: len([]rune(wide.Name.S)), Message: "the lock of the tool"}}}}
}
