package repair

// Schema is what a value may be. The zero Schema takes anything.
type Schema struct {
	Types      []string   // string, number, integer, boolean, array, object, null; none: any
	Properties []Property // of an object, in declared order
	Open       bool       // an object may have other names too
	Items      *Schema    // of an array; nil: any
	Enum       []any      // scalars: string, bool, nil, json.Number
}

// Property is a name in an object.
type Property struct {
	Name       string
	Schema     *Schema
	Required   bool
	Default    any
	HasDefault bool
	Example    any // shown where a call is refused; nil: none
}
