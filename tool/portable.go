package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Portable is a definition as the text of a YAML file that says its own name: what
// stands in its file, comments and order kept, with commands that are no valid YAML
// repaired (S1-420) and the name added where only the file's said it. JSON becomes
// YAML. Text that cannot be read at all is returned as it is.
//
// name, where it is not empty, becomes the tool's name. The error tells that the text
// says its name in a form that cannot be changed.
func Portable(def *Definition, name string) ([]byte, error) {
	d := &decoder{src: newSource(def.File, def.Source)}
	if _, bad := d.src.problem(); bad {
		return def.Source, nil
	}
	if name == "" {
		name = def.Name
	}
	text := d.src.text
	if json.Valid(text) && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return fromJSON(def, name)
	}
	root, err := parseOne(text)
	if err != nil {
		if root = d.repair(); root == nil {
			return def.Source, nil
		}
		text = d.repairedText
	}
	if root.Kind != yaml.MappingNode {
		return def.Source, nil
	}
	out := withName(newSource(def.File, text), root, name)
	if again, _ := Decode("", out); again.Name != name {
		return nil, fmt.Errorf("cannot change the name in %s: write it on one line, as name: %s", quote(def.File), name)
	}
	return out, nil
}

// fromJSON is a JSON definition as YAML.
func fromJSON(def *Definition, name string) ([]byte, error) {
	doc, err := def.document()
	if err != nil {
		return nil, err
	}
	return WriteYAML(withNameFirst(doc, name))
}

// withNameFirst is a document with its name, which stands first where it was missing.
func withNameFirst(doc []Entry, name string) []Entry {
	text := Plain(name)
	v := Value{Scalar: name, Text: &text}
	if i := slices.IndexFunc(doc, func(e Entry) bool { return e.Key == "name" }); i >= 0 {
		doc[i].Value = v
		return doc
	}
	return append([]Entry{{Key: "name", Value: v}}, doc...)
}

// document is a definition's file as a tree. The error is Diagnostics.
func (def *Definition) document() ([]Entry, error) {
	d := &decoder{src: newSource(def.File, def.Source)}
	if problem, bad := d.src.problem(); bad {
		return nil, Diagnostics{problem}
	}
	root := d.parse()
	if root == nil || !d.shape(root) {
		return nil, d.found.Sorted()
	}
	v, _ := d.value(root)
	if err := d.found.Sorted().Err(); err != nil {
		return nil, err
	}
	return v.Map, nil
}

// withName is a text whose top-level name is name. Nothing else of it changes.
func withName(s *source, root *yaml.Node, name string) []byte {
	line := "name: " + name
	value := valueOf(root.Content, "name")
	switch {
	case value == nil && root.Style&yaml.FlowStyle != 0:
		at := s.offset(root.Line, root.Column) + 1
		return splice(s.text, at, at, line+", ")
	case value == nil:
		at := s.offset(root.Line, 1)
		return splice(s.text, at, at, strings.Repeat(" ", root.Column-1)+line+"\n")
	case value.Value == name:
		return s.text
	}
	at := s.offset(value.Line, value.Column)
	rest := s.text[at : s.offset(value.Line, 1)+len(s.line(value.Line))]
	return splice(s.text, at, at+scalarLen(value, rest), name)
}

// scalarLen is how much of the line a scalar takes that stands on one.
func scalarLen(n *yaml.Node, rest []byte) int {
	switch {
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		return 2 + max(0, bytes.IndexByte(rest[1:], rest[0]))
	case bytes.HasPrefix(rest, []byte(n.Value)):
		return len(n.Value)
	}
	return 0
}

func splice(text []byte, from, to int, with string) []byte {
	return slices.Concat(text[:from], []byte(with), text[to:])
}
