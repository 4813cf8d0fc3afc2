package compile

import (
	"github.com/flowrun/flowrun/internal/engine/plan"
)

// claim compiles pool, locks and priority. Only steps that work themselves can have them: a step that holds something
// and contains steps which wait for the same thing would wait forever.
func claim(c *stepTexts, t traits) *plan.Claim {
	def := c.step.Claim
	if def == nil || def.Pool == nil && len(def.Locks) == 0 {
		return nil
	}
	key, at := "locks", c.step.Pos
	if def.Pool != nil {
		key, at = "pool", def.Pool.Name.Pos
	} else if def.Locks[0].Name.Pos.Line > 0 {
		at = def.Locks[0].Name.Pos
	}
	const onlyWork = ": only a step that works itself can hold it"
	switch {
	case t.waits || t.endedByPerson:
		c.noEffect(at, key, key+" has no effect on a step that waits"+onlyWork, "add it to the steps that do the work")
	case t.usesTool || c.step.Steps() != nil:
		c.noEffect(at, key, key+" has no effect on a step that contains steps"+onlyWork, "add it to the steps that do the work")
	}
	k := &plan.Claim{Locks: def.Locks, Priority: def.Priority}
	if def.Pool != nil {
		k.Pool, k.Slots = def.Pool.Name.S, def.Pool.Slots
	}
	return k
}
