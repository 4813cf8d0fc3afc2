package keytable

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// Value is a typed YAML value with its positions and its original text.
type Value struct {
	Pos diagnostic.Pos
	// Scalar is nil, a bool, an int64 or float64, a json.Number for a whole number beyond 64 bits, or the string if Text
	// is set. It is the value that YAML gives; Data has what the author wrote.
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
	return fmt.Sprint(v.Scalar)
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
	if v.Text == nil && v.written != "" && !json.Valid([]byte(v.written)) {
		if v.written = JSONNumber(strings.ReplaceAll(v.written, "_", "")); !json.Valid([]byte(v.written)) { // not decimal
			v.written = ""
		}
	}
	return v
}

// JSONNumber returns a decimal number in the form of JSON. Other text stays other text.
func JSONNumber(s string) string {
	sign, digits := "", strings.TrimPrefix(s, "+")
	if rest, minus := strings.CutPrefix(digits, "-"); minus {
		sign, digits = "-", rest
	}
	at := strings.IndexAny(digits, "eE")
	if at < 0 {
		at = len(digits)
	}
	mantissa := strings.TrimSuffix(strings.TrimLeft(digits[:at], "0"), ".")
	if mantissa == "" || mantissa[0] == '.' {
		mantissa = "0" + mantissa
	}
	return sign + mantissa + digits[at:]
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
	switch v.Scalar.(type) {
	case int64, float64:
		if v.written == "" || v.written == canonical(v.Scalar) {
			return v.Scalar
		}
		if json.Valid([]byte(v.written)) {
			return json.Number(v.written)
		}
		return v.written
	}
	return v.Scalar
}

// canonical returns how a number is written without need for more.
func canonical(number any) string {
	if f, ok := number.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(number)
}
