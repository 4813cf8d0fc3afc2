package call

import (
	"github.com/flowrun/flowrun/internal/value"
	"github.com/flowrun/flowrun/steps"
)

// Masked is a value with secrets replaced, leaf by leaf.
func Masked(m *steps.Mask, v any) any {
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
