package importer

import (
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Node is a value of a YAML file. The zero Node is a value that is missing. A value whose shape is not the one that is
// asked for is a fault of the file: see Unit and Faults. Callers that accept several shapes ask IsMap, IsList or IsScalar first.
type Node struct {
	v    tool.Value
	key  string // the last key on the way to the value
	file *file
}

// Pair is one key of a mapping.
type Pair struct {
	Key  string
	Line int
	Node
}

// ParseYAML reads a YAML file whose top is a mapping. The error is tool.Diagnostics.
func ParseYAML(name string, src []byte) (Node, error) {
	v, found := keytable.DecodeData(name, src)
	for i := range found {
		if found[i].Code == "empty-file" { // its hint is about definitions
			found[i].Hint = "check that this is the right file"
		}
	}
	if err := found.Err(); err != nil {
		return Node{}, err
	}
	if v.Map == nil {
		return Node{}, tool.Diagnostics{{Code: "wrong-type", Severity: tool.Error, Pos: v.Pos, Message: "expected a mapping of keys to values", Hint: "check that this is the right file and format"}}
	}
	return Node{v: v, file: &file{}}, nil
}

// Get returns the value of a key of a mapping.
func (n Node) Get(key string) Node {
	n.expect("a mapping", n.v.Map != nil)
	for _, e := range n.v.Map {
		if e.Key == key {
			return Node{e.Value, key, n.file}
		}
	}
	return Node{}
}

// Line is the line of the value.
func (n Node) Line() int { return n.v.Pos.Line }

// Pairs are the keys of a mapping.
func (n Node) Pairs() []Pair {
	n.expect("a mapping", n.v.Map != nil)
	var out []Pair
	for _, e := range n.v.Map {
		out = append(out, Pair{e.Key, e.Pos.Line, Node{e.Value, e.Key, n.file}})
	}
	return out
}

// Items are the elements of a list, or the value itself if it is not a list.
func (n Node) Items() []Node {
	var out []Node
	for _, v := range n.v.List {
		out = append(out, Node{v, n.key, n.file})
	}
	if n.v.List == nil && n.Exists() {
		return []Node{n}
	}
	return out
}

// Exists reports whether there is a value other than null.
func (n Node) Exists() bool { return n.v.Map != nil || n.v.List != nil || n.v.Scalar != nil }

// IsMap reports whether the value is a mapping.
func (n Node) IsMap() bool { return n.v.Map != nil }

// IsList reports whether the value is a list.
func (n Node) IsList() bool { return n.v.List != nil }

// IsScalar reports whether the value is a text, a number or a boolean.
func (n Node) IsScalar() bool { return n.v.Scalar != nil }

// Scalar is the value of a scalar: a string, a bool, or a number as value.ParseNumber returns it.
func (n Node) Scalar() any { return n.v.Scalar }

// Quoted reports whether a text has quotes or is a block of lines.
func (n Node) Quoted() bool { return n.v.Text != nil && n.v.Text.Pos != n.v.Pos }

// Text is the text of a scalar as it is written.
func (n Node) Text() string {
	n.expect("a text", n.v.Scalar != nil)
	return n.v.Spelling()
}

// True reports whether the value is true. Only true and false are booleans: each tool takes other words in its own way.
func (n Node) True() bool {
	if b, ok := n.v.Scalar.(bool); ok {
		return b
	}
	s, _ := n.v.Scalar.(string)
	n.expect("true or false", s == "true" || s == "false")
	return s == "true"
}

// Texts are the texts of a list of scalars, or of one.
func (n Node) Texts() []string {
	var out []string
	for _, i := range n.Items() {
		out = append(out, i.Text())
	}
	return out
}
