package stepfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/value"
)

// Declaration is a value that a step may write.
type Declaration struct {
	Name     string
	Type     string // string, integer, number, boolean, array or object; "" for any
	Optional bool   // it may be missing
}

// Collect returns the values of the declarations by name. file is what messages call the file. The error is the first
// problem: an undeclared name, a value of another type, a declaration without a value.
func Collect(file string, entries []Entry, list []Declaration) (map[string]any, error) {
	last := make(map[string]Entry, len(list))
	for _, e := range entries {
		if !slices.ContainsFunc(list, func(d Declaration) bool { return d.Name == e.Name }) {
			return nil, &Error{0, fmt.Sprintf("%s: %s is not declared; the declared names are %s", e.place(file), quoted(e.Name), names(list))}
		}
		last[e.Name] = e
	}
	values := make(map[string]any, len(list))
	for _, d := range list {
		e, written := last[d.Name]
		switch {
		case written && e.Value != nil:
			v, err := d.Typed(e)
			if err != nil {
				return nil, &Error{0, fmt.Sprintf("%s: %s: %v", e.place(file), d.Name, err)}
			}
			values[d.Name] = v
		case !d.Optional:
			return nil, &Error{0, fmt.Sprintf("%s is missing in %s", d.Name, file)}
		}
	}
	return values, nil
}

// place returns where an entry was written, for messages.
func (e Entry) place(file string) string {
	if e.Line == 0 {
		return file
	}
	return fmt.Sprintf("line %d of %s", e.Line, file)
}

func names(list []Declaration) string {
	texts := make([]string, len(list))
	for i, d := range list {
		texts[i] = d.Name
	}
	return strings.Join(texts, ", ")
}

// Typed returns the value of an entry, checked and with the type of the declaration. Text becomes a number, a boolean, a
// list or an object if that is declared.
func (d Declaration) Typed(e Entry) (any, error) {
	v := e.Value
	if text, ok := v.(string); ok && e.Text && d.Type != "string" && d.Type != "" {
		if value.StrictJSON(text, &v) != nil {
			v = nil
		}
	}
	if v = value.OfType(d.Type, v); v == nil {
		shown := kind(e.Value)
		if text, ok := e.Value.(string); ok {
			shown = quoted(text)
		}
		return nil, fmt.Errorf("expected %s, got %s%s", article(d.Type), shown, d.advice(e))
	}
	return v, nil
}

// advice returns how to write a value in the form NAME=value, for types whose form people do not know.
func (d Declaration) advice(e Entry) string {
	switch {
	case !e.Text:
		return ""
	case d.Type == "boolean":
		return "; write true or false"
	case d.Type == "array":
		return `; write JSON, such as ["a", "b"]`
	case d.Type == "object":
		return `; write JSON, such as {"a": 1}`
	}
	return ""
}

// Values returns a value as JSON has it: numbers are json.Numbers, lists are []any and objects map[string]any.
func Values(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	err = value.DecodeJSON(text, &out)
	return out, err
}

// kind returns the type of a JSON value, with its article.
func kind(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case bool:
		return "a boolean"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	case nil:
		return "null"
	}
	return "a number"
}

// article returns a type with its article.
func article(typ string) string {
	if strings.IndexAny(typ, "aeiou") == 0 {
		return "an " + typ
	}
	return "a " + typ
}
