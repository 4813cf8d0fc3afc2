package jsonschema

// Defaults is a copy of a value with the defaults of properties filled in that are left
// out, those of objects in objects and lists too. Defaults under anyOf, oneOf, not and if
// are not taken: whether they hold is known only of a whole value. A default does not
// have to fit the schema. Of a schema that Validate cannot bring to an end because it asks
// for too many steps, not all defaults are filled in.
func (s *Schema) Defaults(v any) any {
	f := &filler{left: maxSteps + size(v)}
	v = clone(v)
	f.fill(s.root, v, nil)
	return v
}

// filler is one call of Defaults.
type filler struct{ left int } // steps

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

// made is the nodes whose defaults are around a value: a default that holds its own kind
// would be filled in without end.
type made struct {
	up *made
	n  *node
}

func (m *made) holds(n *node) bool { return m != nil && (m.n == n || m.up.holds(n)) }

// fill fills in what v, which is a copy, leaves out.
func (f *filler) fill(n *node, v any, inside *made) {
	if f.left--; n == nil || f.left < 0 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range n.order {
			f.property(n.properties[name], v, name, inside)
		}
	case []any:
		for i, e := range v {
			if i < len(n.prefix) {
				f.fill(n.prefix[i], e, inside)
			} else {
				f.fill(n.items, e, inside)
			}
		}
	}
	f.fill(n.ref, v, inside)
	for _, part := range n.all {
		f.fill(part, v, inside)
	}
}

// property fills in one property, and what is in it.
func (f *filler) property(n *node, m map[string]any, name string, inside *made) {
	if _, given := m[name]; !given {
		from := n.withDefault()
		if from == nil || inside.holds(from) {
			return
		}
		f.left -= size(from.fallback)
		m[name], inside = clone(from.fallback), &made{inside, from}
	}
	f.fill(n, m[name], inside)
}

// withDefault is the node that has the default of a property: it, or what it refers to.
func (n *node) withDefault() *node {
	for ; n != nil && !n.hasDef; n = n.ref {
	}
	return n
}
