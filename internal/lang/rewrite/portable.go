// Package rewrite writes definitions as text: [Portable] under another name and otherwise as their author wrote them,
// [NormalJSON] with every short form spelled out, [WriteYAML] from keys and values, as people would. [Redact] hides parts of a
// text. What is written reads as the same tool.
package rewrite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/markdown"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Portable returns a definition as the text of a file that contains its own name. The text is that of its file with
// comments and order kept, but commands that are not valid YAML are repaired, and the name is added if only the file
// name had it. JSON becomes YAML. Markdown and JavaScript keep their format. Text that cannot be read is returned
// unchanged.
//
// If name is not empty, it becomes the name of the tool. Portable fails if the name is written in a form that it cannot
// change. The name of a JavaScript tool is computed by its code and is never changed.
func Portable(def *tool.Definition, name string) ([]byte, error) {
	switch def.Format {
	case tool.JavaScript:
		return def.Source, nil
	case tool.Markdown:
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
		return jsonToYAML(def, name)
	}
	root, text := d.ParseRepaired()
	if root == nil || root.Kind != yaml.MappingNode {
		return def.Source, nil
	}
	return applyRename(def, text, nameEdit(diagnostic.NewSource(def.File, text), root, "name", name), name)
}

// portablePage is Portable for a Markdown tool.
func portablePage(def *tool.Definition, name string) ([]byte, error) {
	s := diagnostic.NewSource(def.File, def.Source)
	front := s.Only(markdown.Split(s).Front)
	root, err := keytable.ParseOne(front.Text)
	if err != nil || root == nil || root.Kind != yaml.MappingNode {
		return def.Source, nil
	}
	key := "name"
	if keytable.ValueOf(root.Content, "id") != nil {
		key = "id" // id, if present, is the name of the tool
	}
	return applyRename(def, s.Text, nameEdit(front, root, key, cmp.Or(name, def.Name)), cmp.Or(name, def.Name))
}

// applyRename applies the edit that sets the tool's name. It fails if the result does not have that name.
func applyRename(def *tool.Definition, text []byte, e diagnostic.Edit, name string) ([]byte, error) {
	out := splice(text, e.From, e.To, e.Text)
	if again, _ := decode.File("-"+tool.Extension(def.File), out); again.Name != name {
		return nil, fmt.Errorf("cannot change the name in %s: write it on one line, as name: %s", diagnostic.Quote(def.File), name)
	}
	return out, nil
}

// jsonToYAML returns a JSON definition as YAML.
func jsonToYAML(def *tool.Definition, name string) ([]byte, error) {
	doc, err := documentOf(def)
	if err != nil {
		return nil, err
	}
	return WriteYAML(withNameFirst(doc, name))
}

// withNameFirst sets the name of a document. If it has none, the name becomes its first key.
func withNameFirst(doc []keytable.Entry, name string) []keytable.Entry {
	text := diagnostic.Plain(name)
	v := keytable.Value{Scalar: name, Text: &text}
	if i := slices.IndexFunc(doc, func(e keytable.Entry) bool { return e.Key == "name" }); i >= 0 {
		doc[i].Value = v
		return doc
	}
	return append([]keytable.Entry{{Key: "name", Value: v}}, doc...)
}

// documentOf parses a definition's file into a tree. The error is Diagnostics.
func documentOf(def *tool.Definition) ([]keytable.Entry, error) {
	d := &keytable.Decoder{Src: diagnostic.NewSource(def.File, def.Source)}
	if problem, bad := d.Src.Problem(); bad {
		return nil, diagnostic.Diagnostics{problem}
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

// nameEdit returns the edit that sets a top-level key to name. Nothing else changes; if the key already has that value,
// the edit is empty.
func nameEdit(s *diagnostic.Source, root *yaml.Node, key, name string) diagnostic.Edit {
	text := nameText(name)
	line := key + ": " + text
	value := keytable.ValueOf(root.Content, key)
	switch {
	case value == nil && root.Style&yaml.FlowStyle != 0:
		at := s.Offset(root.Line, root.Column) + 1
		return diagnostic.Edit{From: at, To: at, Text: line + ", "}
	case value == nil:
		at := s.Offset(root.Line, 1)
		return diagnostic.Edit{From: at, To: at, Text: strings.Repeat(" ", root.Column-1) + line + s.Newline()}
	case value.Value == name:
		return diagnostic.Edit{}
	}
	at := s.Offset(value.Line, value.Column)
	rest := s.Text[at : s.Offset(value.Line, 1)+len(s.Line(value.Line))]
	return diagnostic.Edit{From: at, To: at + scalarLen(value, rest), Text: text}
}

// nameText returns a name as YAML.
func nameText(name string) string {
	text, err := yaml.Marshal(textNode(name))
	if err != nil { // never: a text can be encoded
		return name
	}
	return strings.TrimSuffix(string(text), "\n")
}

// scalarLen returns the length of a scalar on a single line.
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
