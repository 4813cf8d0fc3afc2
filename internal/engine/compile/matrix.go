package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

func matrix(c *stepTexts, def *tool.Loop) *plan.Matrix {
	m := &plan.Matrix{}
	for _, e := range def.Axes {
		m.Names = append(m.Names, e.Key)
		m.Axes = append(m.Axes, plan.Axis{Name: e.Key, Values: itemList(c, e.Value, "matrix."+e.Key)})
	}
	for i, v := range def.Include {
		for _, e := range v.Map {
			m.Names = append(m.Names, e.Key)
		}
		m.Include = append(m.Include, c.value(v, fmt.Sprintf("matrix.include[%d]", i)))
	}
	for i, v := range def.Exclude {
		m.Exclude = append(m.Exclude, c.value(v, fmt.Sprintf("matrix.exclude[%d]", i)))
	}
	return m
}

// checkMatrix reports {matrix.NAME} if no combination has NAME.
func checkMatrix(at tool.Text, r expr.Ref, n texts.Names) tool.Diagnostics {
	if r.Class != expr.Local || r.Root != "matrix" || len(r.Path) == 0 {
		return nil
	}
	known := n.Combination()
	if slices.Contains(known, r.Path[0].Field) {
		return nil
	}
	hint := texts.DidYouMean(r.Path[0].Field, known, "names: "+strings.Join(known, ", "))
	return tool.Diagnostics{{Code: "unknown-field", Severity: tool.Error, Pos: at.At(r.Off), Len: r.Len,
		Message: fmt.Sprintf("%s is not in the matrix", r), Hint: hint}}
}

// checkReference reports a text in place of a list that looks like a reference but is not one.
func checkReference(c *stepTexts, v tool.Value, key string) {
	if v.Text == nil || !plan.OnePlaceholder(v.Text.S) {
		return
	}
	if t, _ := expr.ParseTemplate(v.Text.S, expr.Plain, c.names); t != nil && len(t.Refs()) == 0 {
		c.Report(tool.Diagnostic{Code: expr.CodeUnknown, Severity: tool.Error, Pos: v.Text.At(0), Len: len(v.Text.S), Path: c.key(key),
			Message: fmt.Sprintf("unknown reference %s", v.Text.S), Hint: "declare the parameter, or use the name of a step; for a list with this text, write [" + valuetext.Quoted(v.Text.S) + "]"})
	}
}
