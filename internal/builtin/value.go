package builtin

import (
	"encoding/json"
	"math"
)

// text is a parameter that is a text; "" where it was not given.
func text(params map[string]any, name string) string {
	s, _ := params[name].(string)
	return s
}

// whole is a parameter that is a whole number; 0 where it was not given.
func whole(params map[string]any, name string) int64 {
	switch n := params[name].(type) {
	case int64:
		return n
	case int:
		return int64(n)
	case float64:
		return int64(max(math.MinInt64, min(n, math.MaxInt32)))
	case json.Number:
		i, _ := n.Int64()
		return i
	}
	return 0
}
