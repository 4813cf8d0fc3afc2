// Package node holds values as they were read, before a schema gives them a meaning.
//
// A Node keeps the characters of numbers and literals, all members of an object in their order, and its offset in the
// input. A Source is a text with its position in the input, so that a text inside a string can be read in its turn.
// ReadJSON reads strict JSON to nodes in one pass.
package node

import (
	"encoding/json"
	"math"
	"reflect"
	"sync"
)

// Kind is the kind of a value in the text. Package bind decides what it means under the schema.
type kind uint8

// Node is a value as it was read. It keeps the characters of numbers and literals, and all offsets in the input.
type Node struct {
	Kind     kind
	Exact    bool  // a quoted text with the same characters as the input from off+1
	Off      int32 // in the input
	NameOff  int32
	Name     string // its key, in an object
	Text     string
	Children []Node
}

// Source is a text with its position in the input. If the text was unescaped, offsets inside it are unknown, and shift is
// set: all of them are the offset of the string.
type Source struct {
	Text  string
	Base  int
	Shift bool
}

// At returns the offset of i in the input.
func (s *Source) At(i int) int32 {
	if s.Shift {
		return int32(s.Base)
	}
	return int32(s.Base + i)
}

// Inner returns the content of a text as a source.
func (n *Node) Inner() Source {
	if n.Kind == Bare {
		return Source{Text: n.Text, Base: int(n.Off)}
	}
	if n.Exact {
		return Source{Text: n.Text, Base: int(n.Off) + 1}
	}
	return Source{Text: n.Text, Base: int(n.Off), Shift: true}
}

// Literal interprets an unquoted word as a JSON or Python literal or a number.
func (n *Node) Literal() Node {
	out := *n
	switch n.Text {
	case "true", "True":
		out.Kind, out.Text = Truth, "true"
	case "false", "False":
		out.Kind, out.Text = Truth, "false"
	case "null", "None":
		out.Kind = Null
	default:
		if IsNumber(n.Text) {
			out.Kind = Number
		}
	}
	return out
}

// TypeName returns the narrowest JSON Schema type of a scalar.
func (n *Node) TypeName() string {
	switch n.Kind {
	case Number:
		if Integral(n.Text) {
			return "integer"
		}
		return "number"
	case Truth:
		return "boolean"
	case Null:
		return "null"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	return "string"
}

// Scalar returns the value of a node that is not an array, an object or an unquoted word.
func Scalar(n *Node) any {
	switch n.Kind {
	case Number:
		return json.Number(n.Text)
	case Truth:
		return n.Text == "true"
	case Null:
		return nil
	}
	return n.Text
}

// Member returns the last member of an object with this name, or nil.
func (n *Node) Member(name string) *Node {
	for i := len(n.Children) - 1; i >= 0; i-- {
		if n.Children[i].Name == name {
			return &n.Children[i]
		}
	}
	return nil
}

const (
	Quoted kind = iota // text in quotes
	Bare               // text without quotes
	Number             // a JSON number
	Truth              // true, false
	Null
	Array
	Object
)

// IsAbsent reports whether a value is null, in JSON or Python.
func IsAbsent(n *Node) bool {
	return n.Kind == Null || n.Kind == Bare && (n.Text == "null" || n.Text == "None")
}

// Stack holds the members and items of open objects and arrays. It is pooled.
type Stack struct{ Nodes []Node }

var nodeStacks = sync.Pool{New: func() any { return new(Stack) }}

// NewStack returns an empty stack.
func NewStack() *Stack { return nodeStacks.Get().(*Stack) }

// maxKeptNodes limits the size of a stack that is returned to the pool.
const maxKeptNodes = 1 << 19

// Put clears the stack and returns it to the pool.
func (s *Stack) Put() {
	if cap(s.Nodes) <= maxKeptNodes {
		clear(s.Nodes)
		s.Nodes = s.Nodes[:0]
		nodeStacks.Put(s)
	}
}

// Take removes the nodes from first on and returns a copy of them.
func (s *Stack) Take(first int) []Node {
	children := s.Nodes[first:]
	if len(children) == 0 {
		return nil
	}
	out := make([]Node, len(children))
	copy(out, children)
	clear(children)
	s.Nodes = s.Nodes[:first]
	return out
}

// Equal reports whether two values look the same. Numbers must be written with the same characters.
func Equal(a, b *Node) bool { return reflect.DeepEqual(shape(a), shape(b)) }

// shape returns what a node looks like, for comparison with another.
func shape(n *Node) any {
	switch n.Kind {
	case Quoted:
		return n.Text
	case Array:
		list := make([]any, len(n.Children))
		for i := range n.Children {
			list[i] = shape(&n.Children[i])
		}
		return list
	case Object:
		m := make(map[string]any, len(n.Children))
		for i := range n.Children {
			m[n.Children[i].Name] = shape(&n.Children[i])
		}
		if len(m) < len(n.Children) {
			return math.NaN() // repeated names: not equal to anything else
		}
		return m
	}
	lit := n.Literal()
	return [2]string{n.Text, string('0' + rune(lit.Kind))}
}
