package call

import (
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Shown returns the bound parameters with secrets masked.
func (a *Frame) Shown() map[string]any {
	m := make(map[string]any, len(a.Values))
	for name, v := range a.Values {
		if !v.Absent {
			m[name] = a.Session().Mask().Value(v.V)
		}
	}
	return m
}

// Display returns a command as a person would write it, with secrets masked, including those written in the
// definition.
func (a *Frame) Display(t *expr.Template) string {
	mask := a.Session().Mask().String
	return mask(t.Display(Scope{Frame: a}, mask))
}
