package keytable

import "github.com/flowrun/flowrun/internal/diagnostic"

// Value is a YAML value as written, typed, with places.
type Value struct {
	Pos diagnostic.Pos
	// Scalar holds nil, bool, int64, float64 or, where Text is set, the string.
	Scalar any
	Text   *diagnostic.Text // for strings, but those that say they hold no references (!literal in Markdown)
	List   []Value          // for sequences (non-nil, perhaps empty)
	Map    []Entry          // for mappings (non-nil, perhaps empty)

	written string // a scalar's text in the file: 1.10 for the number 1.1
}

// Scalar is a scalar that stands in no file: its value, and its text as it would be written.
func Scalar(v any, written string) Value { return Value{Scalar: v, written: written} }

// Entry is one key of a mapping in written order.
type Entry struct {
	Key   string
	Pos   diagnostic.Pos // of the key
	Value Value
}

// Written is a scalar's text in the file: 1.10 for the number 1.1; "" for other values,
// and for those made in Go.
func (v Value) Written() string { return v.written }

// Data is the value without places: nil, bool, int64, float64, string, []any or
// map[string]any.
func (v Value) Data() any {
	switch {
	case v.List != nil:
		list := make([]any, len(v.List))
		for i, e := range v.List {
			list[i] = e.Data()
		}
		return list
	case v.Map != nil:
		all := make(map[string]any, len(v.Map))
		for _, e := range v.Map {
			all[e.Key] = e.Value.Data()
		}
		return all
	case v.Text != nil:
		return v.Text.S
	}
	return v.Scalar
}
