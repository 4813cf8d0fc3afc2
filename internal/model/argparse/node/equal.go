package node

// Shape returns what a node looks like, for comparison with another.
func Shape(n *Node) any {
	switch n.Kind {
	case Quoted:
		return n.Text
	case Array:
		list := make([]any, len(n.Children))
		for i := range n.Children {
			list[i] = Shape(&n.Children[i])
		}
		return list
	case Object:
		m := make(map[string]any, len(n.Children))
		for i := range n.Children {
			m[n.Children[i].Name] = Shape(&n.Children[i])
		}
		if len(m) < len(n.Children) {
			return n // repeated names: not equal to anything else
		}
		return m
	}
	lit := n.Literal()
	return [2]string{n.Text, string('0' + rune(lit.Kind))}
}

// Equal reports whether two values of a Result are equal. Numbers must be written with the
// same characters.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !Equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}
