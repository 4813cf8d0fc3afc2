package value

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// OfType returns a value if it has that type of JSON Schema, else nil. Any value but null has the type "". A whole number such
// as 2.0 becomes an integer.
func OfType(typ string, v any) any {
	ok := typ == "" && v != nil
	switch v := v.(type) {
	case string:
		ok = ok || typ == "string"
	case bool:
		ok = ok || typ == "boolean"
	case []any:
		ok = ok || typ == "array"
	case map[string]any:
		ok = ok || typ == "object"
	case int64, float64, json.Number:
		if typ == "integer" {
			return integer(json.Number(Plain(v)))
		}
		ok = ok || typ == "number"
	}
	if !ok {
		return nil
	}
	return v
}

// integer returns a whole number without fraction and exponent, nil for other numbers.
func integer(n json.Number) any {
	if strings.Trim(n.String(), "-0123456789") == "" {
		return n
	}
	const maxExact = 1 << 53 // the whole numbers that a float64 holds without gaps
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxExact {
		return nil
	}
	return json.Number(strconv.FormatInt(int64(f), 10))
}
