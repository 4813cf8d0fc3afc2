package keytable

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Value is a typed YAML value with its positions and its original text.
type Value struct {
	Pos diagnostic.Pos
	// Scalar is nil, a bool, a number as value.ParseNumber returns it, or the string if Text is set. Data has what the author
	// wrote.
	Scalar any
	Text   *diagnostic.Text // for strings, except those marked as having no references (!literal in Markdown)
	List   []Value          // for sequences; not nil, but possibly empty
	Map    []Entry          // for mappings; not nil, but possibly empty

	written string // the text of a scalar in the file: 1.10 for the number 1.1
}

// FromData returns a value of encoding/json, with numbers as json.Number, as a Value. Keys are sorted.
func FromData(data any) Value {
	switch data := data.(type) {
	case string:
		t := diagnostic.Plain(data)
		return Value{Scalar: data, Text: &t}
	case []any:
		list := make([]Value, len(data))
		for i, e := range data {
			list[i] = FromData(e)
		}
		return Value{List: list}
	case map[string]any:
		entries := make([]Entry, 0, len(data))
		for _, name := range slices.Sorted(maps.Keys(data)) {
			entries = append(entries, Entry{Key: name, Value: FromData(data[name])})
		}
		return Value{Map: entries}
	case json.Number:
		if n, err := value.ParseNumber(data.String()); err == nil { // otherwise it is beyond the range of float64
			return Value{Scalar: n}
		}
	}
	return Value{Scalar: data}
}

// Entry is one key of a mapping. Mappings keep the order of the file.
type Entry struct {
	Key   string
	Pos   diagnostic.Pos // of the key
	Value Value
}

// Written returns the text of a scalar in the file: 1.10 for the number 1.1. It is "" for other values, and for values
// made in Go.
func (v Value) Written() string { return v.written }

// Spelling returns the text of a scalar as its author wrote it. It is "" for null, a list and a mapping.
func (v Value) Spelling() string {
	switch {
	case v.Text != nil:
		return v.Text.S
	case v.Scalar == nil:
		return ""
	case v.written != "":
		return v.written
	}
	return value.Plain(v.Scalar)
}

// AsText returns the value as something that takes only text has it: a number or boolean is the text in the file, as in
// 3.10, 01234 and True.
func (v Value) AsText() Value {
	if v.Scalar != nil && v.Text == nil {
		v.Scalar, v.Text = v.Spelling(), &diagnostic.Text{S: v.Spelling(), Pos: v.Pos}
	}
	return v
}

// AsNumber returns a number as something that takes only numbers has it: one that JSON does not have in this form, such as
// 0x10 and 0012.50, is the number that it means, with its digits.
func (v Value) AsNumber() Value {
	if v.Text == nil {
		v.written = ""
	}
	return v
}

// As returns the value without positions as that type of JSON Schema has it, nil if it does not have the type. Text takes
// numbers and booleans as AsText does.
func (v Value) As(typ string) any {
	switch typ {
	case "string":
		v = v.AsText()
	case "number", "integer":
		v = v.AsNumber()
	}
	return value.OfType(typ, v.Data())
}

// Data returns the value without positions: nil, bool, int64, float64, json.Number, string, []any or map[string]any. A
// number keeps its spelling: as a json.Number if int64 and float64 would change it, as in 3.10, and as text if JSON has no
// such number, as in 01234.
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
	if _, is := value.Number(v.Scalar); is && v.written != "" && v.written != value.Plain(v.Scalar) {
		return v.written
	}
	return v.Scalar
}
