package dataschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/jsonschema"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Form is a form for a person to fill in: the properties of a JSON Schema of an object. Values are checked against the
// whole schema; a person is asked only for the properties at its top. A Form is immutable and safe for concurrent use.
type Form struct {
	Fields []FormField // in the order of the text

	source   json.RawMessage
	compiled *jsonschema.Schema
	open     bool // the schema itself has rules for values that are not in Fields
}

// FormField is one value of a Form.
type FormField struct {
	Name        string
	Type        string // string, number, integer, boolean, array or object; "" for any
	Title       string
	Description string
	Enum        []any // the allowed values; nil = any
	Default     any   // nil = none
	Required    bool
}

// Problem is a problem with a value, or with a schema.
type Problem struct {
	Field   string   // the field, with the path to the value inside it: list[0].name; "" for the form as a whole
	Path    []string // the same path, split into its parts
	Missing bool     // a required value is missing
	Unknown bool     // the form has no such field
	Message string
	Hint    string
}

// ParseForm parses a form in the format of MarshalJSON.
func ParseForm(source []byte) (*Form, error) {
	f, bad := CompileForm(source)
	if len(bad) > 0 {
		return nil, fmt.Errorf("cannot read the form: %s: %s", strings.Join(bad[0].Path, "."), bad[0].Message)
	}
	return f, nil
}

// MarshalJSON returns the schema of the form, as it was written.
func (f *Form) MarshalJSON() ([]byte, error) { return f.source, nil }

// Equal reports whether the schemas of two forms have the same text.
func (f *Form) Equal(other *Form) bool {
	return f == other || f != nil && other != nil && bytes.Equal(f.source, other.source)
}

// Field returns the field with the given name, or nil if there is none.
func (f *Form) Field(name string) *FormField {
	i := slices.IndexFunc(f.Fields, func(x FormField) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &f.Fields[i]
}

// Defaults returns the default values of the form's fields.
func (f *Form) Defaults() map[string]any {
	values := map[string]any{}
	for _, x := range f.Fields {
		if x.Default != nil {
			values[x.Name] = x.Default
		}
	}
	return values
}

// Check returns all problems with the given values, which are as encoding/json decodes them.
func (f *Form) Check(values map[string]any) []Problem {
	var list []Problem
	if !f.open {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if f.Field(name) == nil {
				list = append(list, Problem{Field: name, Path: []string{name}, Unknown: true, Message: "is not in the form", Hint: f.suggestion(name)})
			}
		}
	}
	for _, p := range f.compiled.Validate(values) {
		if len(p.Path) > 0 && slices.ContainsFunc(list, func(x Problem) bool { return x.Field == p.Path[0] }) {
			continue
		}
		list = append(list, Problem{Field: FormatPath(p.Path), Path: p.Path, Missing: p.Missing, Unknown: p.Unknown, Message: p.Message})
	}
	return list
}

func (f *Form) suggestion(name string) string {
	names := make([]string, len(f.Fields))
	for i, x := range f.Fields {
		names[i] = x.Name
	}
	if near := diagnostic.Near(name, names); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return "the form has " + strings.Join(names, ", ")
}

// FormatPath formats the path to a value for people: list[0].name.
func FormatPath(parts []string) string {
	var b strings.Builder
	for i, part := range parts {
		switch {
		case i > 0 && strings.Trim(part, "0123456789") == "":
			b.WriteString("[" + part + "]")
		case i > 0:
			b.WriteString("." + part)
		default:
			b.WriteString(part)
		}
	}
	return b.String()
}

// CompileForm parses a form, or returns the problems in it.
func CompileForm(source []byte) (*Form, []jsonschema.Problem) {
	var doc any
	if err := value.DecodeJSON(source, &doc); err != nil {
		return nil, []jsonschema.Problem{{Message: err.Error()}}
	}
	top, ok := doc.(map[string]any)
	if !ok {
		return nil, []jsonschema.Problem{{Message: "the form is not a mapping"}}
	}
	if t, given := top["type"]; given && t != "object" {
		return nil, []jsonschema.Problem{{Path: []string{"type"}, Message: "the type of a form must be object"}}
	}
	top["type"] = "object"
	f := &Form{source: source}
	var bad []jsonschema.Problem
	if f.compiled, bad = jsonschema.Compile(top); bad != nil {
		return nil, bad
	}
	f.open = isOpen(top)
	properties, _ := top["properties"].(map[string]any)
	if len(properties) == 0 && !f.open {
		return nil, []jsonschema.Problem{{Message: "the form has no properties"}}
	}
	f.fields(top)
	return f, f.checkDefaults(properties)
}

// isOpen reports whether a schema has rules of its own for values that its properties do not name.
func isOpen(top map[string]any) bool {
	return slices.ContainsFunc([]string{"additionalProperties", "patternProperties", "unevaluatedProperties", "$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"},
		func(key string) bool { return top[key] != nil })
}

// fields fills f.Fields from the properties of the schema.
func (f *Form) fields(top map[string]any) {
	for _, p := range propertiesOf(f.source, top) {
		x := FormField{Name: p.Name, Required: p.Required, Default: p.Schema["default"]}
		x.Type, _ = p.Schema["type"].(string)
		x.Title, _ = p.Schema["title"].(string)
		x.Description, _ = p.Schema["description"].(string)
		x.Enum, _ = p.Schema["enum"].([]any)
		f.Fields = append(f.Fields, x)
	}
}

// checkDefaults checks every default against its own property.
func (f *Form) checkDefaults(properties map[string]any) (bad []jsonschema.Problem) {
	for _, p := range f.compiled.Validate(f.Defaults()) {
		if len(p.Path) == 0 || p.Missing && len(p.Path) == 1 {
			continue // a required value without a default: the person enters it
		}
		if property, _ := properties[p.Path[0]].(map[string]any); property["default"] != nil {
			bad = append(bad, jsonschema.Problem{Path: []string{"properties", p.Path[0], "default"}, Message: "invalid default: " + p.Message})
		}
	}
	return bad
}
