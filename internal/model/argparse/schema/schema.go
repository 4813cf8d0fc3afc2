// Package schema holds what is declared for a call: the parameters with their types, and the name of the tool.
//
// A Call resolves a name to the property that it refers to, exactly or as its only folded match. The keys of envelopes are
// here too, because a key of an envelope is a name that a call may have.
package schema

import (
	"encoding/json"
	"slices"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
)

// Schema describes a value. The zero Schema accepts any value. The schema of a tool's parameters is an object; a tool
// without parameters has only the Types ["object"].
type Schema struct {
	Types      []string   // string, number, integer, boolean, array, object, null; empty for any type
	Properties []Property // of an object, in declared order
	Open       bool       // allows undeclared names; nested objects always allow them
	Items      *Schema    // of an array; nil for any type
	Enum       []any      // scalars: string, bool, nil, json.Number
}

// Property is a member of an object. Required and Default apply only to the parameters of a tool, not to nested objects.
type Property struct {
	Name       string
	Schema     *Schema
	Required   bool
	Default    any
	HasDefault bool
	Example    any // shown in refusals; nil for none
}

// Free reports whether the schema accepts any value.
func (s *Schema) Free() bool {
	return s == nil || len(s.Types) == 0 && len(s.Properties) == 0 && s.Items == nil && len(s.Enum) == 0
}

// AllowsUndeclared reports whether a call may have undeclared names.
func (s *Schema) AllowsUndeclared() bool { return s.Open || s.Free() }

var (
	objectType = []string{"object"}
	arrayType  = []string{"array"}
)

// Text returns the schema of a text.
func Text() *Schema { return &Schema{Types: []string{"string"}} }

// ArrayOf returns the schema of an array.
func ArrayOf(items *Schema) *Schema { return &Schema{Types: arrayType, Items: items} }

// TypeNames returns the declared types, or those implied by the other keywords. It is empty for any type.
func (s *Schema) TypeNames() []string {
	switch {
	case s == nil:
		return nil
	case len(s.Types) > 0:
		return s.Types
	case len(s.Enum) > 0:
		return enumTypes(s.Enum)
	case len(s.Properties) > 0:
		return objectType
	case s.Items != nil:
		return arrayType
	}
	return nil
}

func enumTypes(enum []any) []string {
	var types []string
	for _, v := range enum {
		if t := typeOf(v); !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	return types
}

// Allows reports whether a value may have a type.
func (s *Schema) Allows(name string) bool {
	types := s.TypeNames()
	if len(types) == 0 {
		return name != "null" || s.Free()
	}
	return slices.Contains(types, name) || name == "integer" && slices.Contains(types, "number")
}

// ItemSchema returns the schema of the items of an array.
func (s *Schema) ItemSchema() *Schema {
	if s == nil {
		return nil
	}
	return s.Items
}

func typeOf(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case json.Number:
		if node.Integral(string(v)) {
			return "integer"
		}
		return "number"
	case bool:
		return "boolean"
	case nil:
		return "null"
	case []any:
		return "array"
	}
	return "object"
}

// Own returns the value that the author of a property gives as an example, or as its default; nil for none.
func (p *Property) Own() any {
	if p.Example == nil && p.HasDefault {
		return p.Default
	}
	return p.Example
}

// Sample returns a valid value of a property.
func (p *Property) Sample(depth int) any {
	if own := p.Own(); own != nil {
		return own
	}
	return p.Schema.sample(depth)
}

// sample returns a valid value, with at most depth levels of objects and arrays.
func (s *Schema) sample(depth int) any {
	if s != nil && len(s.Enum) > 0 {
		return s.Enum[0]
	}
	types := s.TypeNames()
	if len(types) == 0 {
		return "text"
	}
	switch types[0] {
	case "number":
		return json.Number("1.5")
	case "integer":
		return json.Number("1")
	case "boolean":
		return true
	case "null":
		return nil
	case "array":
		if depth == 0 {
			return []any{}
		}
		return []any{s.ItemSchema().sample(depth - 1)}
	case "object":
		o := map[string]any{}
		if depth > 0 {
			for i := range s.Properties[:min(len(s.Properties), 12)] {
				o[s.Properties[i].Name] = s.Properties[i].Sample(depth - 1)
			}
		}
		return o
	}
	return "text"
}
