package compile

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// claim compiles pool, locks and priority. Only steps that work themselves can have them: a step that holds something
// and contains steps which wait for the same thing would wait forever.
func (c *stepCompiler) claim(s *plan.Step, t traits) {
	def := c.step.Claim
	if def == nil || def.Pool == nil && len(def.Locks) == 0 {
		return
	}
	key, at := "locks", c.step.Pos
	if def.Pool != nil {
		key, at = "pool", def.Pool.Name.Pos
	} else if def.Locks[0].Name.Pos.Line > 0 {
		at = def.Locks[0].Name.Pos
	}
	switch {
	case t.waits || t.endedByPerson:
		c.claimNoEffect(at, key, "a step that waits")
	case t.usesTool || c.step.Steps() != nil:
		c.claimNoEffect(at, key, "a step that contains steps")
	}
	s.Claim = &plan.Claim{Locks: def.Locks, Priority: def.Priority}
	if def.Pool != nil {
		s.Claim.Pool, s.Claim.Slots = def.Pool.Name.S, def.Pool.Slots
	}
}

func (c *stepCompiler) claimNoEffect(at tool.Pos, key, on string) {
	c.report(tool.Diagnostic{Code: "no-effect", Severity: tool.Error, Pos: at, Path: c.key(key),
		Message: fmt.Sprintf("%s has no effect on %s: only a step that works itself can hold it", key, on), Hint: "add it to the steps that do the work"})
}

// checkLockLevels reports a run that holds locks while its steps wait for others: two such runs could wait for each
// other forever.
func (c *compiler) checkLockLevels(p *plan.Plan) {
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
		return
	}
	c.report(tool.Diagnostic{Code: "two-lock-levels", Severity: tool.Error, Pos: step.Name.Pos, Len: max(1, len([]rune(step.Name.S))),
		Message: fmt.Sprintf("a step cannot wait for the lock %s while its run holds the lock %s: two such runs could wait for each other forever", step.Name.S, wide.Name.S),
		Hint:    "write all locks on the tool, or all of them on steps",
		Related: []tool.Place{{Pos: wide.Name.Pos, Len: len([]rune(wide.Name.S)), Message: "the lock of the tool"}}})
}
