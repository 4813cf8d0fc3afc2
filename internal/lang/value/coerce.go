package value

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// ContainsNUL reports whether any text in the value contains a NUL byte.
func ContainsNUL(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsRune(v, 0)
	case []any:
		return slices.ContainsFunc(v, ContainsNUL)
	case map[string]any:
		for k, e := range v {
			if strings.ContainsRune(k, 0) || ContainsNUL(e) {
				return true
			}
		}
	}
	return false
}

// Coerce converts a caller's value to the type of the parameter. The error says what was expected.
func Coerce(typ string, v any) (any, error) {
	switch typ {
	case "number", "integer":
		return ToNumber(v)
	case "any": // text stays text
		return v, nil
	case "boolean":
		return toBool(v)
	case "array":
		return toArray(v)
	case "object":
		return toObject(v)
	}
	return toText(v)
}

func toText(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, json.Number, float64, float32, int, int64, uint64:
		return Plain(v), nil
	case []byte:
		return string(v), nil
	case nil:
		return nil, fmt.Errorf("null is not text")
	}
	return nil, fmt.Errorf("expected text, got %s", KindOf(v))
}

func toBool(v any) (any, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "1", "yes", "y":
			return true, nil
		case "false", "0", "no", "n":
			return false, nil
		}
		return nil, fmt.Errorf("%s is neither true nor false", valuetext.Quoted(v))
	case int, int64, float64, json.Number:
		return toBool(Plain(v))
	}
	return nil, fmt.Errorf("expected true or false, got %s", KindOf(v))
}

// toArray accepts a list, JSON text of a list, or one plain value as the only element. It does not split
// at commas.
func toArray(v any) (any, error) {
	switch v := v.(type) {
	case []any:
		return v, nil
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list, nil
	case string:
		if strings.HasPrefix(strings.TrimSpace(diagnostic.WithoutMark(v)), "[") {
			var list []any
			if err := StrictJSON(v, &list); err != nil {
				return nil, fmt.Errorf("looks like a JSON array, but %v", err)
			}
			return list, nil
		}
	case map[string]any:
		return nil, fmt.Errorf("expected an array, got an object")
	case nil:
		return nil, fmt.Errorf("expected an array, got null")
	}
	return []any{v}, nil
}

func toObject(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case string:
		var m map[string]any
		if err := StrictJSON(v, &m); err != nil {
			return nil, fmt.Errorf("expected a JSON object: %v", err)
		}
		if m == nil {
			return nil, fmt.Errorf("expected a JSON object, got null")
		}
		return m, nil
	}
	return nil, fmt.Errorf("expected an object, got %s", KindOf(v))
}

// KindOf returns the kind of a value in words, with its article.
func KindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case bool:
		return "a boolean"
	case []any, []string:
		return "an array"
	case map[string]any:
		return "an object"
	case int, int64, uint64, float64, json.Number:
		return "a number"
	}
	return fmt.Sprintf("a %T", v)
}

// Plain returns a scalar as text. Numbers have no exponent and no trailing .0.
func Plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(v), 'f', -1, 32)
	case nil:
		return ""
	case []any, map[string]any:
		b, _ := json.Marshal(v)
		return string(b)
	}
	return fmt.Sprint(v)
}
