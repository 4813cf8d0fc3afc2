package jsonschema

import (
	"maps"
	"slices"
	"strings"
)

// checkObject checks the keywords for objects.
func (s *nodeCheck) checkObject() {
	m, ok := s.v.(map[string]any)
	if !ok {
		return
	}
	n := s.n
	s.atLeast("minProperties", "keys", len(m), n.minProperties)
	s.atMost("maxProperties", "keys", len(m), n.maxProperties)
	for _, name := range n.required {
		if _, given := m[name]; !given {
			s.addProblem(Problem{Path: []string{name}, Schema: n.at + "/required", Missing: true, Message: "is missing"})
		}
	}
	for _, d := range n.dependent {
		s.checkDependency(m, d)
	}
	if n.hasPropertyRules() {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			s.checkProperty(name, m[name])
		}
	}
	s.checkUnevaluated(m)
}

// hasPropertyRules reports whether a node has rules that depend on the names of properties.
func (n *node) hasPropertyRules() bool {
	return n.properties != nil || n.patterns != nil || n.additionalProperties != nil || n.propertyNames != nil
}

func (s *nodeCheck) checkDependency(m map[string]any, d dependency) {
	if _, given := m[d.property]; !given {
		return
	}
	s.applySame(d.schema)
	for _, name := range d.required {
		if _, given := m[name]; !given {
			s.addProblem(Problem{Path: []string{name}, Schema: s.n.at + "/" + d.keyword, Missing: true,
				Message: "is missing: it is required with " + d.property})
		}
	}
}

// checkProperty checks one property against all rules for its name.
func (s *nodeCheck) checkProperty(name string, v any) {
	n, known := s.n, false
	if n.propertyNames != nil {
		s.checkName(name)
	}
	if one := n.properties[name]; one != nil {
		known = true
		s.applyChild(one, v, name)
	}
	for _, p := range n.patterns {
		if p.re.MatchString(name) {
			known = true
			s.applyChild(p.node, v, name)
		}
	}
	if !known && n.additionalProperties != nil {
		known = true
		s.checkExtra("additionalProperties", n.additionalProperties, v, name)
	}
	if known {
		s.evaluated.addName(name)
	}
}

// checkExtra checks a property without a rule of its own against additionalProperties or
// unevaluatedProperties.
func (s *nodeCheck) checkExtra(keyword string, n *node, v any, name string) {
	if n.alwaysFalse {
		s.addProblem(Problem{Path: []string{name}, Schema: s.n.at + "/" + keyword, Unknown: true, Message: "is unknown"})
		return
	}
	s.applyChild(n, v, name)
}

// checkName checks the name of a property against propertyNames.
func (s *nodeCheck) checkName(name string) {
	inner := &validation{schema: s.schema, value: name, stepsLeft: s.stepsLeft, depth: s.depth, sized: s.sized}
	fits := inner.check(s.n.propertyNames, name, nil, s.in, nil, s.collect)
	if s.stepsLeft, s.exhausted = inner.stepsLeft, inner.exhausted; fits {
		return
	}
	var why []string
	for _, p := range inner.problems {
		why = append(why, p.Message)
	}
	s.addProblem(Problem{Path: []string{name}, Schema: s.n.at + "/propertyNames", Message: "has an invalid name: " + strings.Join(why, "; ")})
}

func (s *nodeCheck) checkUnevaluated(m map[string]any) {
	n := s.n.unevaluatedProperties
	if n == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !s.evaluated.hasName(name) {
			s.checkExtra("unevaluatedProperties", n, m[name], name)
			s.evaluated.addName(name)
		}
	}
}
