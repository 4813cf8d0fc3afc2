package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Portable is a definition as the text of a file that says its own name: what stands in
// its file, comments and order kept, with commands that are no valid YAML repaired
// (S1-420) and the name added where only the file's said it. JSON becomes YAML; Markdown
// and JavaScript stay what they are. Text that cannot be read at all is returned as it is.
//
// name, where it is not empty, becomes the tool's name. The error tells that the text
// says its name in a form that cannot be changed. That of a JavaScript tool is what its
// code answers, and is left as it is.
func Portable(def *Definition, name string) ([]byte, error) {
	switch def.Format {
	case JavaScript:
		return def.Source, nil
	case Markdown:
		return portablePage(def, name)
	}
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
	root, text := d.parsed()
	if root == nil || root.Kind != yaml.MappingNode {
		return def.Source, nil
	}
	return renamed(def, text, withName(newSource(def.File, text), root, "name", name), name)
}

// portablePage is a Markdown tool that says its own name.
func portablePage(def *Definition, name string) ([]byte, error) {
	s := newSource(def.File, def.Source)
	front := s.only(pageOf(s).front)
	root, err := parseOne(front.text)
	if err != nil || root == nil || root.Kind != yaml.MappingNode {
		return def.Source, nil
	}
	key := "name"
	if valueOf(root.Content, "id") != nil {
		key = "id" // which is what the tool is called by (S0-011)
	}
	return renamed(def, s.text, withName(front, root, key, cmp.Or(name, def.Name)), cmp.Or(name, def.Name))
}

// renamed is a text with the edit that gives the tool its name, if that does so.
func renamed(def *Definition, text []byte, e Edit, name string) ([]byte, error) {
	out := splice(text, e.From, e.To, e.Text)
	if again, _ := Decode("-"+Extension(def.File), out); again.Name != name {
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

// withName is the edit that makes name the value of a key at the top of a text. Nothing
// else changes, and nothing at all where it is that already.
func withName(s *source, root *yaml.Node, key, name string) Edit {
	line := key + ": " + name
	value := valueOf(root.Content, key)
	switch {
	case value == nil && root.Style&yaml.FlowStyle != 0:
		at := s.offset(root.Line, root.Column) + 1
		return Edit{at, at, line + ", "}
	case value == nil:
		at := s.offset(root.Line, 1)
		return Edit{at, at, strings.Repeat(" ", root.Column-1) + line + s.newline()}
	case value.Value == name:
		return Edit{}
	}
	at := s.offset(value.Line, value.Column)
	rest := s.text[at : s.offset(value.Line, 1)+len(s.line(value.Line))]
	return Edit{at, at + scalarLen(value, rest), name}
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
