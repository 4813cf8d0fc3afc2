// Package schemaparams converts parameters that are written as a JSON Schema of an object, as function calling has
// them, to the form of definitions: one mapping by the name of each parameter.
package schemaparams

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// Result is the converted mapping. Complete means that it says everything that the schema said.
type Result struct {
	Node     *yaml.Node
	Complete bool
}

// Convert converts the value of parameters. It returns false if that is not a JSON Schema. The nodes keep their
// positions.
func Convert(n *yaml.Node) (Result, bool) {
	properties := valueOf(n, "properties")
	if typ := valueOf(n, "type"); typ == nil || typ.Value != "object" || properties == nil || properties.Kind != yaml.MappingNode {
		return Result{}, false
	}
	c := converter{complete: true}
	c.check(n, nil, []string{"type", "properties", "required", "$schema", "title", "additionalProperties"})
	out := like(properties)
	required := names(valueOf(n, "required"))
	for i := 0; i+1 < len(properties.Content); i += 2 {
		key, property := properties.Content[i], properties.Content[i+1]
		if property.Kind != yaml.MappingNode {
			return Result{}, false
		}
		out.Content = append(out.Content, key, c.parameter(property, slices.Contains(required, key.Value)))
	}
	return Result{out, c.complete}, true
}

type converter struct{ complete bool }

// check notes whether a mapping has keys that are neither kept nor dropped, or comments at those that are dropped.
func (c *converter) check(n *yaml.Node, kept, dropped []string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case slices.Contains(kept, key.Value):
		case !slices.Contains(dropped, key.Value), key.HeadComment+key.LineComment+key.FootComment+value.LineComment != "":
			c.complete = false
		}
	}
}

// rules are the keywords that belong in validation.
var rules = []string{"enum", "pattern", "minimum", "maximum", "minLength", "maxLength"}

// kept are the keywords that a parameter has too.
var kept = []string{"type", "description", "default", "examples", "deprecated"}

// parameter converts a property.
func (c *converter) parameter(property *yaml.Node, required bool) *yaml.Node {
	c.check(property, slices.Concat(kept, rules), []string{"title"})
	out, validation := like(property), like(property)
	for i := 0; i+1 < len(property.Content); i += 2 {
		key, value := property.Content[i], property.Content[i+1]
		switch {
		case key.Value == "type" && value.Value == "integer":
			number := *value
			number.Value = "number"
			out.Content = append(out.Content, key, &number)
		case slices.Contains(rules, key.Value):
			validation.Content = append(validation.Content, key, value)
		case slices.Contains(kept, key.Value):
			out.Content = append(out.Content, key, value)
		}
	}
	if required && valueOf(property, "required") == nil {
		out.Content = append(out.Content, scalar(property, "required", "!!str"), scalar(property, "true", "!!bool"))
	}
	if len(validation.Content) > 0 {
		out.Content = append(out.Content, scalar(property, "validation", "!!str"), validation)
	}
	return out
}

// like returns an empty mapping with the position, style and comments of another one.
func like(n *yaml.Node) *yaml.Node {
	empty := *n
	empty.Content = nil
	return &empty
}

func scalar(at *yaml.Node, value, tag string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value, Line: at.Line, Column: at.Column}
}

// valueOf returns the value of a key in a mapping, nil if there is none.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func names(list *yaml.Node) []string {
	var all []string
	if list != nil {
		for _, n := range list.Content {
			all = append(all, n.Value)
		}
	}
	return all
}
