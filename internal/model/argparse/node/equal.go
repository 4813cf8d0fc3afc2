package node

import (
	"math"
	"reflect"
)

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
