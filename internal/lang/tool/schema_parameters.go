package tool

import (
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// ParametersOf returns the properties of a schema as parameters in their order in the text, for help, completion and
// lists: name, type, description, whether it is required, default, allowed values and examples. A property with no type
// or with several has the type any. Values are not checked against these parameters but against the schema itself; see
// Definition.Schema. For a nil schema it returns nil.
func ParametersOf(s *dataschema.Schema) []*Parameter {
	if s == nil {
		return nil
	}
	var list []*Parameter
	for _, property := range s.Properties() {
		p := &Parameter{Name: property.Name, Type: "any", Required: property.Required}
		p.describe(property.Schema)
		list = append(list, p)
	}
	return list
}

// describe sets the fields that are shown to people from a property's schema.
func (p *Parameter) describe(schema map[string]any) {
	if t, ok := schema["type"].(string); ok && t != "null" {
		p.Type = t
	}
	p.Description, _ = schema["description"].(string)
	p.Deprecated, _ = schema["deprecated"].(bool)
	if v, given := schema["default"]; given {
		value := keytable.FromData(v)
		p.Default = &value
	}
	if list, ok := schema["enum"].([]any); ok {
		p.Validation.Enum = keytable.FromData(list).List
	}
	if list, ok := schema["examples"].([]any); ok {
		p.Examples = keytable.FromData(list).List
	}
}
