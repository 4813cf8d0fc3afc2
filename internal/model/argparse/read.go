package argparse

import (
	"fmt"
	"slices"
	"strings"
)

// ReadParameters reads the parameter declarations of `flowrun repair`:
// {NAME: {"type", "required", "default", "example", "validation": {"enum"}}}. They keep their
// order. type is string (the default), number, integer, boolean, array, object, null, any, or
// a list of these; properties, items and enum are as in JSON Schema. It ignores other keys,
// such as description and the limits in validation, which the caller must check.
func ReadParameters(doc []byte) (*Schema, error) {
	n, err := readDeclaration(doc)
	if err != nil {
		return nil, err
	}
	s := &Schema{Types: []string{"object"}}
	for i := range n.children {
		p, err := readProperty(&n.children[i])
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", quote(n.children[i].name), err)
		}
		if p.Schema.free() && n.children[i].member("type") == nil {
			p.Schema.Types = []string{"string"}
		}
		s.Properties = append(s.Properties, p)
	}
	return s, unique(s)
}

func readDeclaration(doc []byte) (node, error) {
	src := source{text: string(doc)}
	n, end, _, ok := readJSON(src, 0)
	if !ok || strings.TrimSpace(src.text[end:]) != "" {
		return n, fmt.Errorf("invalid JSON in the parameter declarations, at byte %d", end)
	}
	if n.kind != object {
		return n, fmt.Errorf("the parameter declarations have type %s, expected object", n.typeName())
	}
	return n, nil
}

func readProperty(n *node) (Property, error) {
	p := Property{Name: n.name}
	if n.kind != object {
		return p, fmt.Errorf("has type %s, expected object", n.typeName())
	}
	var err error
	if p.Schema, err = readSchema(n); err != nil {
		return p, err
	}
	if v := n.member("required"); v != nil {
		if v.kind != truth && v.kind != array {
			return p, fmt.Errorf("required has type %s, expected boolean", v.typeName())
		}
		p.Required = v.text == "true"
	}
	if v := n.member("default"); v != nil && v.kind != null {
		p.HasDefault = true
		p.Default = untyped(v)
	}
	if v := n.member("example"); v != nil {
		p.Example = untyped(v)
	}
	if v := n.member("examples"); v != nil && v.kind == array && len(v.children) > 0 && p.Example == nil {
		p.Example = untyped(&v.children[0])
	}
	return p, nil
}

// member returns the last member of an object with this name, or nil.
func (n *node) member(name string) *node {
	for i := len(n.children) - 1; i >= 0; i-- {
		if n.children[i].name == name {
			return &n.children[i]
		}
	}
	return nil
}

var knownTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

func readSchema(n *node) (*Schema, error) {
	s := &Schema{}
	if n.kind == truth {
		return s, nil // true: anything
	}
	if n.kind != object {
		return nil, fmt.Errorf("a schema has type %s, expected object", n.typeName())
	}
	if err := readTypes(s, n.member("type")); err != nil {
		return nil, err
	}
	enum := n.member("enum")
	if v := n.member("validation"); v != nil {
		if v.kind != object {
			return nil, fmt.Errorf("validation has type %s, expected object", v.typeName())
		}
		if enum == nil {
			enum = v.member("enum")
		}
	}
	if err := readEnum(s, enum); err != nil {
		return nil, err
	}
	if v := n.member("items"); v != nil {
		items, err := readSchema(v)
		if err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
		s.Items = items
	}
	if v := n.member("additionalProperties"); v != nil {
		s.Open = v.kind == object || v.kind == truth && v.text == "true"
	}
	return s, readProperties(s, n)
}

func readTypes(s *Schema, n *node) error {
	if n == nil {
		return nil
	}
	names := []node{*n}
	if n.kind == array {
		names = n.children
	}
	for _, t := range names {
		switch name := strings.ToLower(t.text); {
		case t.kind == quoted && name == "any" && len(names) == 1:
		case t.kind != quoted || !slices.Contains(knownTypes, name):
			return fmt.Errorf("unknown type %s: expected %s or any", quote(t.text), strings.Join(knownTypes, ", "))
		case !slices.Contains(s.Types, name):
			s.Types = append(s.Types, name)
		}
	}
	return nil
}

func readEnum(s *Schema, n *node) error {
	if n == nil {
		return nil
	}
	if n.kind != array {
		return fmt.Errorf("enum has type %s, expected array", n.typeName())
	}
	for i := range n.children {
		if k := n.children[i].kind; k == array || k == object {
			s.Enum = nil // of other values than scalars nothing is known here
			return nil
		}
		s.Enum = append(s.Enum, scalar(&n.children[i]))
	}
	return nil
}

func readProperties(s *Schema, n *node) error {
	props := n.member("properties")
	if props == nil {
		return nil
	}
	if props.kind != object {
		return fmt.Errorf("properties has type %s, expected object", props.typeName())
	}
	for i := range props.children {
		p, err := readProperty(&props.children[i])
		if err != nil {
			return fmt.Errorf("property %s: %w", quote(props.children[i].name), err)
		}
		s.Properties = append(s.Properties, p)
	}
	if req := n.member("required"); req != nil && req.kind == array {
		for _, name := range req.children {
			for i := range s.Properties {
				if s.Properties[i].Name == name.text {
					s.Properties[i].Required = true
				}
			}
		}
	}
	return unique(s)
}

func unique(s *Schema) error {
	seen := map[string]bool{}
	for _, p := range s.Properties {
		if seen[p.Name] {
			return fmt.Errorf("%s is declared twice", quote(p.Name))
		}
		seen[p.Name] = true
	}
	return nil
}
