package compile

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
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

// itemList compiles a list of items.
func itemList(c *stepTexts, v tool.Value, key string) plan.ItemList {
	if v.Text == nil || plan.OnePlaceholder(v.Text.S) {
		checkReference(c, v, key)
		t := c.value(v, key)
		return plan.ItemList{ValueTemplate: &t}
	}
	over, ps := expr.ParseExpression(v.Text.S, c.names)
	if c.ReportProblems(*v.Text, c.key(key), ps, c.names) {
		return plan.ItemList{}
	}
	c.addReferences(*v.Text, over.Refs())
	if len(over.Refs()) == 0 {
		checkConstant(c, *v.Text, over, key)
	}
	return plan.ItemList{Over: over}
}

// checkConstant reports an expression without references that is not a list.
func checkConstant(c *stepTexts, at tool.Text, over *expr.Expression, key string) {
	v, err := over.Value(nil)
	if err == nil {
		_, err = plan.ListOf(v)
	}
	if _, isText := v.(string); isText {
		err = fmt.Errorf("expected a list, found the text %s", valuetext.Quoted(v.(string)))
	}
	if err != nil {
		c.Report(tool.Diagnostic{Code: "wrong-type", Severity: tool.Error, Pos: at.At(0), Len: max(1, len(at.S)), Path: c.key(key),
			Message: err.Error(), Hint: "write [a, b], a reference to a list in quotes, or an expression such as 1..5"})
	}
}
