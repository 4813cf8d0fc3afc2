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
