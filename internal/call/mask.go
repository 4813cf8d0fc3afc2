package call

import (
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/mask"
	"github.com/flowrun/flowrun/internal/value"
)

// Masked returns v with secrets masked, leaf by leaf.
func Masked(m *mask.Mask, v any) any {
	switch v := v.(type) {
	case string:
		return m.String(v)
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = Masked(m, e)
		}
		return list
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[m.String(k)] = Masked(m, e)
		}
		return out
	case bool, nil:
		return v
	}
	if text := value.Plain(v); m.String(text) != text {
		return m.String(text)
	}
	return v
}

// Shown returns the bound parameters with secrets masked.
func (a *Frame) Shown() map[string]any {
	m := make(map[string]any, len(a.Values))
	for name, v := range a.Values {
		if !v.Absent {
			m[name] = Masked(a.Session().Mask(), v.V)
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
