package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/diagnostic"
	"github.com/flowrun/flowrun/internal/keytable"
)

// Portable is a definition as the text of a file that says its own name: what stands in
// its file, comments and order kept, with commands that are no valid YAML repaired
// and the name added where only the file's said it. JSON becomes YAML; Markdown
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
	d := &keytable.Decoder{Src: diagnostic.NewSource(def.File, def.Source)}
	if _, bad := d.Src.Problem(); bad {
		return def.Source, nil
	}
	if name == "" {
		name = def.Name
	}
	text := d.Src.Text
	if json.Valid(text) && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return fromJSON(def, name)
	}
	root, text := d.Parsed()
	if root == nil || root.Kind != yaml.MappingNode {
		return def.Source, nil
	}
	return renamed(def, text, withName(diagnostic.NewSource(def.File, text), root, "name", name), name)
}

// portablePage is a Markdown tool that says its own name.
func portablePage(def *Definition, name string) ([]byte, error) {
	s := diagnostic.NewSource(def.File, def.Source)
	front := s.Only(pageOf(s).front)
	root, err := keytable.ParseOne(front.Text)
	if err != nil || root == nil || root.Kind != yaml.MappingNode {
		return def.Source, nil
	}
	key := "name"
	if keytable.ValueOf(root.Content, "id") != nil {
		key = "id" // which is what the tool is called by
	}
	return renamed(def, s.Text, withName(front, root, key, cmp.Or(name, def.Name)), cmp.Or(name, def.Name))
}

// renamed is a text with the edit that gives the tool its name, if that does so.
func renamed(def *Definition, text []byte, e Edit, name string) ([]byte, error) {
	out := splice(text, e.From, e.To, e.Text)
	if again, _ := Decode("-"+Extension(def.File), out); again.Name != name {
		return nil, fmt.Errorf("cannot change the name in %s: write it on one line, as name: %s", diagnostic.Quote(def.File), name)
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
	d := &keytable.Decoder{Src: diagnostic.NewSource(def.File, def.Source)}
	if problem, bad := d.Src.Problem(); bad {
		return nil, Diagnostics{problem}
	}
	root := d.Parse()
	if root == nil || !d.Shape(root) {
		return nil, d.Found.Sorted()
	}
	v, _ := d.Value(root)
	if err := d.Found.Sorted().Err(); err != nil {
		return nil, err
	}
	return v.Map, nil
}

// withName is the edit that makes name the value of a key at the top of a text. Nothing
// else changes, and nothing at all where it is that already.
func withName(s *diagnostic.Source, root *yaml.Node, key, name string) Edit {
	line := key + ": " + name
	value := keytable.ValueOf(root.Content, key)
	switch {
	case value == nil && root.Style&yaml.FlowStyle != 0:
		at := s.Offset(root.Line, root.Column) + 1
		return Edit{From: at, To: at, Text: line + ", "}
	case value == nil:
		at := s.Offset(root.Line, 1)
		return Edit{From: at, To: at, Text: strings.Repeat(" ", root.Column-1) + line + s.Newline()}
	case value.Value == name:
		return Edit{}
	}
	at := s.Offset(value.Line, value.Column)
	rest := s.Text[at : s.Offset(value.Line, 1)+len(s.Line(value.Line))]
	return Edit{From: at, To: at + scalarLen(value, rest), Text: name}
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
