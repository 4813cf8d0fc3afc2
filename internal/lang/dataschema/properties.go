package dataschema

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Property is one property of the schema of an object.
type Property struct {
	Name     string
	Required bool
	Schema   map[string]any // its own schema; nil if that is true or false
}

// propertiesOf returns the properties of a schema in the order of its text. top is the decoded text.
func propertiesOf(source []byte, top map[string]any) []Property {
	properties, _ := top["properties"].(map[string]any)
	required, _ := top["required"].([]any)
	var list []Property
	for _, name := range propertyOrder(source) {
		own, _ := properties[name].(map[string]any)
		list = append(list, Property{name, slices.Contains(required, any(name)), own})
	}
	return list
}

// propertyOrder returns the names of the properties in the order of the text.
func propertyOrder(source []byte) []string {
	var top struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(source, &top) != nil || len(top.Properties) == 0 {
		return nil
	}
	var names []string
	d := json.NewDecoder(bytes.NewReader(top.Properties))
	d.Token() // the opening brace
	for d.More() {
		key, err := d.Token()
		var skip json.RawMessage
		if err != nil || d.Decode(&skip) != nil {
			break
		}
		if name, ok := key.(string); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
