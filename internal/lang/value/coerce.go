package value

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// Number converts a value of a parameter to a float64. ok is false if it is not a number.
func Number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number: // beyond int64
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

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

// decimalPattern matches text that counts as a number: no hexadecimal, no underscores, no NaN and no
// Infinity.
var decimalPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`) })

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

// ToNumber converts a value to an int64 or a float64, or to a json.Number as ParseNumber does.
func ToNumber(v any) (any, error) {
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case int64:
		return v, nil
	case uint64:
		return json.Number(strconv.FormatUint(v, 10)), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v is not a number", v)
		}
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), nil
		}
		return v, nil
	case json.Number:
		return ParseNumber(v.String())
	case string:
		return ParseNumber(strings.TrimSpace(v))
	}
	return nil, fmt.Errorf("expected a number, got %s", KindOf(v))
}

// ParseNumber parses a number and keeps every digit: one that an int64 or a float64 would show in another way, as 3.10,
// 1e3 or a number of 20 digits, is a json.Number. Leading zeros mean nothing. 0x10, 0o20, 0b1 and 1_000 are read as in YAML.
func ParseNumber(s string) (any, error) {
	digits := s
	if strings.Contains(s, "_") && !strings.HasPrefix(s, "_") && !strings.HasSuffix(s, "_") {
		digits = strings.ReplaceAll(s, "_", "")
	}
	if !decimalPattern().MatchString(digits) {
		if n, err := strconv.ParseInt(digits, 0, 64); err == nil {
			return n, nil
		}
		return nil, fmt.Errorf("%s is not a number", expr.Quoted(s))
	}
	number := keytable.JSONNumber(digits)
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && strconv.FormatInt(n, 10) == number {
		return n, nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is out of range", expr.Quoted(s))
	}
	if strings.Contains(number, ".") && strconv.FormatFloat(f, 'f', -1, 64) == number {
		return f, nil
	}
	return json.Number(number), nil
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
		return nil, fmt.Errorf("%s is neither true nor false", expr.Quoted(v))
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
			if err := decodeText(v, &list); err != nil {
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
		if err := decodeText(v, &m); err != nil {
			return nil, fmt.Errorf("expected a JSON object: %v", err)
		}
		if m == nil {
			return nil, fmt.Errorf("expected a JSON object, got null")
		}
		return m, nil
	}
	return nil, fmt.Errorf("expected an object, got %s", KindOf(v))
}

// decodeText is DecodeJSON for a caller's text.
func decodeText(s string, into any) error {
	if err := CheckJSON([]byte(s)); err != nil {
		return err
	}
	return DecodeJSON(s, into)
}

// DecodeJSON decodes exactly one JSON value, perhaps after a byte order mark, and keeps the digits of its numbers.
func DecodeJSON(s string, into any) error {
	d := json.NewDecoder(strings.NewReader(diagnostic.WithoutMark(s)))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("unexpected text after the JSON value")
	}
	return nil
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
