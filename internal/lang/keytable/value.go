package keytable

import "github.com/flowrun/flowrun/internal/lang/diagnostic"

// Value is a typed YAML value with its positions and its original text.
type Value struct {
	Pos diagnostic.Pos
	// Scalar is nil, a bool, int64 or float64, or the string if Text is set.
	Scalar any
	Text   *diagnostic.Text // for strings, except those marked as having no references (!literal in Markdown)
	List   []Value          // for sequences; not nil, but possibly empty
	Map    []Entry          // for mappings; not nil, but possibly empty

	written string // the text of a scalar in the file: 1.10 for the number 1.1
}

// Scalar returns a scalar that is not in a file. written is its text as it would be written.
func Scalar(v any, written string) Value { return Value{Scalar: v, written: written} }

// Entry is one key of a mapping. Mappings keep the order of the file.
type Entry struct {
	Key   string
	Pos   diagnostic.Pos // of the key
	Value Value
}

// Written returns the text of a scalar in the file: 1.10 for the number 1.1. It is "" for other values, and for values
// made in Go.
func (v Value) Written() string { return v.written }

// Data returns the value without positions: nil, bool, int64, float64, string, []any or map[string]any.
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
