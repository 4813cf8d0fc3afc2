package compile

import (
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// loop compiles for-each or matrix, and adds the item to the names that the step's other texts can refer to.
func (c *stepCompiler) loop(s *plan.Step) {
	def := c.step.Loop
	if def == nil {
		return
	}
	s.Loop = &plan.Loop{Def: def, Name: "item", Keep: c.step.Output.BufferLimit}
	c.plan.Loops[c.step.Name] = true
	if s.Loop.Keep <= 0 {
		s.Loop.Keep = steps.DefaultLimit
	}
	locals := map[string]bool{"item": true, "index": true}
	switch {
	case def.Matrix():
		s.Loop.Matrix = c.matrix(def)
		locals["matrix"] = true
	default:
		s.Loop.Items = c.itemList(*def.Items, "for-each.items", c.addReferences)
		if def.As != nil {
			s.Loop.Name = def.As.S
			delete(locals, "item")
			locals[def.As.S] = true
		}
	}
	fixed := !slices.ContainsFunc(s.Loop.Refs(), func(r expr.Ref) bool { return c.names.callerDecides(c.plan.Definition, r) })
	c.names = c.names.withLocals(locals)
	c.names.fixedItems = fixed
	c.names.itemAlias = s.Loop.Name
	if s.Loop.Matrix != nil {
		c.names.axes = s.Loop.Matrix.Names
	}
	s.Loop.Key = c.text(def.Key, "for-each.key", expr.Plain, c.names)
}
