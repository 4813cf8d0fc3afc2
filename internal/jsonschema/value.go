package jsonschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// kinds are types of JSON as a set.
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

// kindNames are the types in the order of their bits.
func kindNames() []string {
	return []string{"null", "boolean", "number", "string", "array", "object", "integer"}
}

// kindNamed is the set of one type; none where there is no such type.
func kindNamed(name string) kinds {
	if i := slices.Index(kindNames(), name); i >= 0 {
		return 1 << i
	}
	return 0
}

// kindOf is the type of a value; none of what JSON does not have.
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

// appendCanonical adds the one text that all spellings of a value share: two values are equal
// where theirs are.
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

// enumValues is enum: values, and the keys that they are found by.
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

// words are the values for people.
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

// plain is a value for people: texts without quotes, all else as JSON.
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
