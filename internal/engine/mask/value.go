package mask

import (
	"fmt"
	"strconv"
)

// Value returns a JSON value with secrets masked, leaf by leaf.
func (m *Mask) Value(v any) any {
	switch v := v.(type) {
	case string:
		return m.String(v)
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = m.Value(e)
		}
		return list
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[m.String(k)] = m.Value(e)
		}
		return out
	case bool, nil:
		return v
	}
	text := fmt.Sprint(v)
	if f, ok := v.(float64); ok {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if shown := m.String(text); shown != text {
		return shown
	}
	return v
}
