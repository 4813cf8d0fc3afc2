package argparse

// shape returns what a node looks like, for comparison with another.
func shape(n *node) any {
	switch n.kind {
	case quoted:
		return n.text
	case array:
		list := make([]any, len(n.children))
		for i := range n.children {
			list[i] = shape(&n.children[i])
		}
		return list
	case object:
		m := make(map[string]any, len(n.children))
		for i := range n.children {
			m[n.children[i].name] = shape(&n.children[i])
		}
		if len(m) < len(n.children) {
			return n // repeated names: not equal to anything else
		}
		return m
	}
	lit := n.literal()
	return [2]string{n.text, string('0' + rune(lit.kind))}
}

// equal reports whether two values of a Result are equal. Numbers must be written with the
// same characters.
func equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
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
			if w, ok := b[k]; !ok || !equal(v, w) {
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
