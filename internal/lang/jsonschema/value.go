package jsonschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// kinds is a set of types of JSON.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindBoolean
	kindNumber
	kindString
	kindArray
	kindObject
	kindInteger // a number without a fraction
)

// kindNames returns the names of the types in the order of their bits.
func kindNames() []string {
	return []string{"null", "boolean", "number", "string", "array", "object", "integer"}
}

// kindNamed returns the set of one type, 0 for an unknown name.
func kindNamed(name string) kinds {
	if i := slices.Index(kindNames(), name); i >= 0 {
		return 1 << i
	}
	return 0
}

// kindOf returns the type of a value, 0 for values that JSON does not have.
func kindOf(v any) kinds {
	switch v := v.(type) {
	case nil:
		return kindNull
	case bool:
		return kindBoolean
	case string:
		return kindString
	case []any:
		return kindArray
	case map[string]any:
		return kindObject
	default:
		if d, ok := decimalOf(v); ok && d.whole() {
			return kindNumber | kindInteger
		} else if ok {
			return kindNumber
		}
	}
	return 0
}

// appendCanonical appends the canonical text of a value. Two values are equal if their texts are.
func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return strconv.AppendQuote(b, v)
	case []any:
		b = append(b, '[')
		for _, e := range v {
			b = append(appendCanonical(b, e), ',')
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b = append(strconv.AppendQuote(b, name), ':')
			b = append(appendCanonical(b, v[name]), ',')
		}
		return append(b, '}')
	}
	d, _ := decimalOf(v)
	return append(b, d.String()...)
}

// enumValues is the keyword enum: its values, and their canonical texts.
type enumValues struct {
	values []any
	keys   map[string]bool
}

func newChoice(values []any) *enumValues {
	c := &enumValues{values: values, keys: make(map[string]bool, len(values))}
	for _, v := range values {
		c.keys[string(appendCanonical(nil, v))] = true
	}
	return c
}

// maxListed is how many values of an enum a message lists.
const maxListed = 20

// words returns the values for a message.
func (c *enumValues) words() string {
	var words []string
	for _, v := range c.values[:min(len(c.values), maxListed)] {
		words = append(words, plain(v))
	}
	if more := len(c.values) - maxListed; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

type constant struct {
	value any
	key   string
}

// plain returns a value for a message: text without quotes, everything else as JSON.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "a value that is not JSON"
	}
	return string(b)
}
