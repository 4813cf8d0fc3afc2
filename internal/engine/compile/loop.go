package compile

import (
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// loop compiles for-each or matrix, and adds the item to the names that the step's other texts can refer to.
func loop(c *stepTexts) *plan.Loop {
	def := c.step.Loop
	if def == nil {
		return nil
	}
	l := &plan.Loop{Def: def, Name: "item", Keep: c.step.Output.BufferLimit}
	if l.Keep <= 0 {
		l.Keep = steps.DefaultLimit
	}
	locals := map[string]bool{"item": true, "index": true}
	switch {
	case def.Matrix():
		l.Matrix = matrix(c, def)
		locals["matrix"] = true
	default:
		l.Items = itemList(c, *def.Items, "for-each.items")
		if def.As != nil {
			l.Name = def.As.S
			delete(locals, "item")
			locals[def.As.S] = true
		}
	}
	fixed := !slices.ContainsFunc(l.Refs(), c.names.CallerDecides)
	var axes []string
	if l.Matrix != nil {
		axes = l.Matrix.Names
	}
	c.names = c.names.WithItem(locals, l.Name, fixed, axes)
	l.Key = c.text(def.Key, "for-each.key", expr.Plain)
	return l
}
