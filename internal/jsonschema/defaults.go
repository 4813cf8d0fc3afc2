package jsonschema

// Defaults is a copy of a value with the defaults of properties filled in that are left
// out, those of objects in objects and lists too. Defaults under anyOf, oneOf, not and if
// are not taken: whether they hold is known only of a whole value. A default does not
// have to fit the schema. Of a schema that Validate cannot bring to an end because it asks
// for too many steps, not all defaults are filled in.
func (s *Schema) Defaults(v any) any {
	f := &filler{stepsLeft: maxSteps + size(v)}
	v = clone(v)
	f.fill(s.root, v, nil)
	return v
}

// filler is one call of Defaults.
type filler struct{ stepsLeft int } // steps

func clone(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = clone(e)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, e := range v {
			m[name] = clone(e)
		}
		return m
	}
	return v
}

// defaultChain is the nodes whose defaults are around a value: a default that holds its own kind
// would be filled in without end.
type defaultChain struct {
	up *defaultChain
	n  *node
}

func (m *defaultChain) holds(n *node) bool { return m != nil && (m.n == n || m.up.holds(n)) }

// fill fills in what v, which is a copy, leaves out.
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

// property fills in one property, and what is in it.
func (f *filler) property(n *node, m map[string]any, name string, inside *defaultChain) {
	if _, given := m[name]; !given {
		from := n.withDefault()
		if from == nil || inside.holds(from) {
			return
		}
		f.stepsLeft -= size(from.defaultValue)
		m[name], inside = clone(from.defaultValue), &defaultChain{inside, from}
	}
	f.fill(n, m[name], inside)
}

// withDefault is the node that has the default of a property: it, or what it refers to.
func (n *node) withDefault() *node {
	for ; n != nil && !n.hasDefault; n = n.ref {
	}
	return n
}
