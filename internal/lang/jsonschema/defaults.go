package jsonschema

import "github.com/flowrun/flowrun/internal/lang/value"

// Defaults returns a copy of a value in which missing properties have their defaults, also inside
// nested objects and lists. Defaults under anyOf, oneOf, not and if are ignored: whether they apply
// is known only for a complete value. Defaults are not validated. If a schema needs too many steps,
// for which Validate reports a problem, some defaults may be missing. Safe for concurrent use.
func (s *Schema) Defaults(v any) any {
	f := &filler{stepsLeft: maxSteps + size(v)}
	v = value.Clone(v)
	f.fill(s.root, v, nil)
	return v
}

// filler is the state of one call of Defaults.
type filler struct{ stepsLeft int } // steps that may still be taken

// defaultChain lists the nodes whose defaults contain the value. A default that contains its own kind
// would be filled in without end.
type defaultChain struct {
	up *defaultChain
	n  *node
}

func (m *defaultChain) holds(n *node) bool { return m != nil && (m.n == n || m.up.holds(n)) }

// fill fills in what is missing in v, which is a copy.
func (f *filler) fill(n *node, v any, inside *defaultChain) {
	if f.stepsLeft--; n == nil || f.stepsLeft < 0 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range n.order {
			f.property(n.properties[name], v, name, inside)
		}
	case []any:
		for i, e := range v {
			if i < len(n.prefixItems) {
				f.fill(n.prefixItems[i], e, inside)
			} else {
				f.fill(n.items, e, inside)
			}
		}
	}
	f.fill(n.ref, v, inside)
	for _, part := range n.allOf {
		f.fill(part, v, inside)
	}
}

// property fills in one property and its content.
func (f *filler) property(n *node, m map[string]any, name string, inside *defaultChain) {
	if _, given := m[name]; !given {
		from := n.withDefault()
		if from == nil || inside.holds(from) {
			return
		}
		f.stepsLeft -= size(from.defaultValue)
		m[name], inside = value.Clone(from.defaultValue), &defaultChain{inside, from}
	}
	f.fill(n, m[name], inside)
}

// withDefault returns the node that has the default of a property: n, or a node that n refers to. It
// returns nil if there is none.
func (n *node) withDefault() *node {
	for ; n != nil && !n.hasDefault; n = n.ref {
	}
	return n
}
