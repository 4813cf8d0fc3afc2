package argparse

import "slices"

// Schema is what a value may be. The zero Schema takes anything. That of the parameters of
// a tool is an object of them: a tool without any has the Types ["object"] alone.
type Schema struct {
	Types      []string   // string, number, integer, boolean, array, object, null; none: any
	Properties []Property // of an object, in declared order
	Open       bool       // an object may have other names too; the objects inside always may
	Items      *Schema    // of an array; nil: any
	Enum       []any      // scalars: string, bool, nil, json.Number
}

// Property is a name in an object. Required and Default are of the parameters of a tool; of
// objects inside they say nothing here.
type Property struct {
	Name       string
	Schema     *Schema
	Required   bool
	Default    any
	HasDefault bool
	Example    any // shown where a call is refused; nil: none
}

// free tells whether a value may be anything.
func (s *Schema) free() bool {
	return s == nil || len(s.Types) == 0 && len(s.Properties) == 0 && s.Items == nil && len(s.Enum) == 0
}

// open tells whether a call may have other names than the declared.
func (s *Schema) open() bool { return s.Open || s.free() }

var (
	objectType = []string{"object"}
	arrayType  = []string{"array"}
)

// types are the declared types, or those that the other words of the schema speak of;
// empty: any.
func (s *Schema) types() []string {
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

func (s *Schema) allows(name string) bool {
	types := s.types()
	if len(types) == 0 {
		return name != "null" || s.free()
	}
	for _, t := range types {
		if t == name || t == "number" && name == "integer" {
			return true
		}
	}
	return false
}

// items is what the items of an array may be.
func (s *Schema) items() *Schema {
	if s == nil {
		return nil
	}
	return s.Items
}
