package compile

import (
	"fmt"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// tree compiles a value; note hears of every text's references.
func (c *compiler) tree(v tool.Value, path string, n expr.Names, note func(tool.Text, []expr.Ref)) plan.ValueTemplate {
	t := plan.ValueTemplate{Scalar: v.Scalar, IsList: v.List != nil, IsMap: v.Map != nil}
	switch {
	case v.Text != nil:
		if t.Text = c.template(v.Text, path, expr.Plain, n); t.Text != nil {
			note(*v.Text, t.Text.Refs())
		}
		t.Broken = t.Text == nil
	case t.IsList:
		for i, e := range v.List {
			t.Add(c.tree(e, fmt.Sprintf("%s[%d]", path, i), n, note))
		}
	case t.IsMap:
		for _, e := range v.Map {
			t.Keys = append(t.Keys, e.Key)
			t.Add(c.tree(e.Value, path+"."+e.Key, n, note))
		}
	}
	return t
}
