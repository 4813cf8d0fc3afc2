package jsonschema

import (
	"maps"
	"slices"
	"strings"
)

// object is what is about objects.
func (s *spot) object() {
	m, ok := s.v.(map[string]any)
	if !ok {
		return
	}
	n := s.n
	s.atLeast("minProperties", "keys", len(m), n.minProperties)
	s.atMost("maxProperties", "keys", len(m), n.maxProperties)
	for _, name := range n.required {
		if _, given := m[name]; !given {
			s.problem(Problem{Path: []string{name}, Schema: n.at + "/required", Missing: true, Message: "is missing"})
		}
	}
	for _, d := range n.dependent {
		s.dependency(m, d)
	}
	if n.named() {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			s.property(name, m[name])
		}
	}
	s.unevaluated(m)
}

// named says whether a node has rules for properties by their names.
func (n *node) named() bool {
	return n.properties != nil || n.patterns != nil || n.additional != nil || n.names != nil
}

func (s *spot) dependency(m map[string]any, d dependency) {
	if _, given := m[d.property]; !given {
		return
	}
	s.here(d.schema)
	for _, name := range d.required {
		if _, given := m[name]; !given {
			s.problem(Problem{Path: []string{name}, Schema: s.n.at + "/" + d.keyword, Missing: true,
				Message: "is missing: it goes with " + d.property})
		}
	}
}

// property holds one property against what is said of its name.
func (s *spot) property(name string, v any) {
	n, known := s.n, false
	if n.names != nil {
		s.name(name)
	}
	if one := n.properties[name]; one != nil {
		known = true
		s.below(one, v, name)
	}
	for _, p := range n.patterns {
		if p.re.MatchString(name) {
			known = true
			s.below(p.node, v, name)
		}
	}
	if !known && n.additional != nil {
		known = true
		s.beyond("additionalProperties", n.additional, v, name)
	}
	if known {
		s.seen.addName(name)
	}
}

// beyond holds a property that nothing names against what is said of such.
func (s *spot) beyond(keyword string, n *node, v any, name string) {
	if n.refused {
		s.problem(Problem{Path: []string{name}, Schema: s.n.at + "/" + keyword, Unknown: true, Message: "is not known here"})
		return
	}
	s.below(n, v, name)
}

// name holds the name of a property against propertyNames.
func (s *spot) name(name string) {
	inner := &run{schema: s.schema, value: name, left: s.left, depth: s.depth, sized: s.sized}
	fits := inner.check(s.n.names, name, nil, s.in, nil, s.tells)
	if s.left, s.exhausted = inner.left, inner.exhausted; fits {
		return
	}
	var why []string
	for _, p := range inner.problems {
		why = append(why, p.Message)
	}
	s.problem(Problem{Path: []string{name}, Schema: s.n.at + "/propertyNames", Message: "the name is refused: " + strings.Join(why, "; ")})
}

func (s *spot) unevaluated(m map[string]any) {
	n := s.n.unevaluatedProperties
	if n == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !s.seen.name(name) {
			s.beyond("unevaluatedProperties", n, m[name], name)
			s.seen.addName(name)
		}
	}
}
