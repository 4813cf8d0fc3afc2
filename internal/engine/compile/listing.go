package compile

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

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
		err = fmt.Errorf("expected a list, found the text %s", expr.Quoted(v.(string)))
	}
	if err != nil {
		c.Report(tool.Diagnostic{Code: "wrong-type", Severity: tool.Error, Pos: at.At(0), Len: max(1, len(at.S)), Path: c.key(key),
			Message: err.Error(), Hint: "write [a, b], a reference to a list in quotes, or an expression such as 1..5"})
	}
}
