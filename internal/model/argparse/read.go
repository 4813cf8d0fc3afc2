package argparse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/bind"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
)

// ReadParameters reads the parameter declarations of `flowrun repair`: {NAME: {"type", "required", "default", "example",
// "validation": {"enum"}}}. They keep their order. type is string (the default), number, integer, boolean, array, object,
// null, any, or a list of these; properties, items and enum are as in JSON Schema. It ignores other keys, such as
// description and the limits in validation, which the caller must check.
func ReadParameters(doc []byte) (*Schema, error) {
	n, err := readDeclaration(doc)
	if err != nil {
		return nil, err
	}
	s := &Schema{Types: []string{"object"}}
	for i := range n.Children {
		p, err := readProperty(&n.Children[i])
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", report.Quote(n.Children[i].Name), err)
		}
		if p.Schema.Free() && n.Children[i].Member("type") == nil {
			p.Schema.Types = []string{"string"}
		}
		s.Properties = append(s.Properties, p)
	}
	return s, unique(s)
}

func readDeclaration(doc []byte) (node.Node, error) {
	src := node.Source{Text: string(doc)}
	n, end, _, ok := node.ReadJSON(src, 0)
	if !ok || strings.TrimSpace(src.Text[end:]) != "" {
		return n, fmt.Errorf("invalid JSON in the parameter declarations, at byte %d", end)
	}
	if n.Kind != node.Object {
		return n, fmt.Errorf("the parameter declarations have type %s, expected object", n.TypeName())
	}
	return n, nil
}

func readProperty(n *node.Node) (Property, error) {
	p := Property{Name: n.Name}
	if n.Kind != node.Object {
		return p, fmt.Errorf("has type %s, expected object", n.TypeName())
	}
	var err error
	if p.Schema, err = readSchema(n); err != nil {
		return p, err
	}
	if v := n.Member("required"); v != nil {
		if v.Kind != node.Truth && v.Kind != node.Array {
			return p, fmt.Errorf("required has type %s, expected boolean", v.TypeName())
		}
		p.Required = v.Text == "true"
	}
	if v := n.Member("default"); v != nil && v.Kind != node.Null {
		p.HasDefault = true
		p.Default = bind.Untyped(v)
	}
	if v := n.Member("example"); v != nil {
		p.Example = bind.Untyped(v)
	}
	if v := n.Member("examples"); v != nil && v.Kind == node.Array && len(v.Children) > 0 && p.Example == nil {
		p.Example = bind.Untyped(&v.Children[0])
	}
	return p, nil
}

var knownTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

func readSchema(n *node.Node) (*Schema, error) {
	s := &Schema{}
	if n.Kind == node.Truth {
		return s, nil // true: anything
	}
	if n.Kind != node.Object {
		return nil, fmt.Errorf("a schema has type %s, expected object", n.TypeName())
	}
	if err := readTypes(s, n.Member("type")); err != nil {
		return nil, err
	}
	enum := n.Member("enum")
	if v := n.Member("validation"); v != nil {
		if v.Kind != node.Object {
			return nil, fmt.Errorf("validation has type %s, expected object", v.TypeName())
		}
		if enum == nil {
			enum = v.Member("enum")
		}
	}
	if err := readEnum(s, enum); err != nil {
		return nil, err
	}
	if v := n.Member("items"); v != nil {
		items, err := readSchema(v)
		if err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
		s.Items = items
	}
	if v := n.Member("additionalProperties"); v != nil {
		s.Open = v.Kind == node.Object || v.Kind == node.Truth && v.Text == "true"
	}
	return s, readProperties(s, n)
}

func readTypes(s *Schema, n *node.Node) error {
	if n == nil {
		return nil
	}
	names := []node.Node{*n}
	if n.Kind == node.Array {
		names = n.Children
	}
	for _, t := range names {
		switch name := strings.ToLower(t.Text); {
		case t.Kind == node.Quoted && name == "any" && len(names) == 1:
		case t.Kind != node.Quoted || !slices.Contains(knownTypes, name):
			return fmt.Errorf("unknown type %s: expected %s or any", report.Quote(t.Text), strings.Join(knownTypes, ", "))
		case !slices.Contains(s.Types, name):
			s.Types = append(s.Types, name)
		}
	}
	return nil
}

func readEnum(s *Schema, n *node.Node) error {
	if n == nil {
		return nil
	}
	if n.Kind != node.Array {
		return fmt.Errorf("enum has type %s, expected array", n.TypeName())
	}
	for i := range n.Children {
		if k := n.Children[i].Kind; k == node.Array || k == node.Object {
			s.Enum = nil // of other values than scalars nothing is known here
			return nil
		}
		s.Enum = append(s.Enum, node.Scalar(&n.Children[i]))
	}
	return nil
}

func readProperties(s *Schema, n *node.Node) error {
	props := n.Member("properties")
	if props == nil {
		return nil
	}
	if props.Kind != node.Object {
		return fmt.Errorf("properties has type %s, expected object", props.TypeName())
	}
	for i := range props.Children {
		p, err := readProperty(&props.Children[i])
		if err != nil {
			return fmt.Errorf("property %s: %w", report.Quote(props.Children[i].Name), err)
		}
		s.Properties = append(s.Properties, p)
	}
	if req := n.Member("required"); req != nil && req.Kind == node.Array {
		for _, name := range req.Children {
			for i := range s.Properties {
				if s.Properties[i].Name == name.Text {
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
			return fmt.Errorf("%s is declared twice", report.Quote(p.Name))
		}
		seen[p.Name] = true
	}
	return nil
}
