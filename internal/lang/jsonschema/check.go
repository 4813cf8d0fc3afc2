package jsonschema

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Limits of one validation, so that every one ends: its depth, and the number of nodes it checks. If
// the first maxSteps are not enough, stepsPerValue more are added for each part of the value.
const (
	maxDepth      = 10_000
	maxSteps      = 1 << 20
	stepsPerValue = 1 << 10
)

// Validate returns everything that is wrong with a value decoded by encoding/json, sorted by path, or
// nil. Numbers may have any type of Go. If none of several alternatives matches, that is the one
// problem; what is wrong with each alternative is not listed. Safe for concurrent use.
func (s *Schema) Validate(v any) []Problem {
	r := &validation{schema: s, value: v, stepsLeft: maxSteps}
	r.check(s.root, v, nil, nil, s.newEvaluated(), true)
	if r.exhausted {
		r.problems = append(r.problems, Problem{Message: "cannot be checked: the schema never ends or needs too many steps"})
	}
	return sorted(r.problems)
}

// sorted sorts problems by path and removes duplicates.
func sorted(list []Problem) []Problem {
	slices.SortStableFunc(list, func(a, b Problem) int { return slices.Compare(a.Path, b.Path) })
	return slices.CompactFunc(list, func(a, b Problem) bool {
		return slices.Equal(a.Path, b.Path) && a.Message == b.Message
	})
}

// validation is the state of one call of Validate.
type validation struct {
	schema    *Schema
	value     any
	problems  []Problem
	depth     int
	stepsLeft int  // steps that may still be taken
	sized     bool // the steps for the size of the value were added
	exhausted bool
}

// location is the path from the whole value to the one that is checked, the last name first.
type location struct {
	up   *location
	name string
}

// resourceScope lists the resources from the root to a node, the last first.
type resourceScope struct {
	up  *resourceScope
	res *resource
}

// step counts one step and reports whether there was one left.
func (r *validation) step() bool {
	if r.stepsLeft--; r.stepsLeft < 0 && !r.sized {
		r.sized = true
		r.stepsLeft = size(r.value) * stepsPerValue
	}
	if r.stepsLeft < 0 || r.depth > maxDepth {
		r.exhausted = true
	}
	return !r.exhausted
}

// size returns the number of values in a value, itself included.
func size(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += size(e)
		}
	case map[string]any:
		for _, e := range v {
			n += size(e)
		}
	}
	return n
}

// nodeCheck checks one value against one node.
type nodeCheck struct {
	*validation
	n         *node
	v         any
	at        *location
	in        *resourceScope
	evaluated *evaluated // what this node and those it refers to have evaluated; nil if no node of the schema needs it
	collect   bool       // collect the problems; otherwise only find out whether there are any
	ok        bool
}

// check checks a value against a node. Without collect it stops at the first problem.
func (r *validation) check(n *node, v any, at *location, in *resourceScope, up *evaluated, collect bool) bool {
	if !r.step() {
		return false
	}
	r.depth++
	defer func() { r.depth-- }()
	if in == nil || in.res != n.res {
		in = &resourceScope{in, n.res}
	}
	s := &nodeCheck{validation: r, n: n, v: v, at: at, in: in, evaluated: r.schema.newEvaluated(), collect: collect, ok: true}
	for _, part := range [...]func(*nodeCheck){(*nodeCheck).checkType, (*nodeCheck).checkNumber, (*nodeCheck).checkText, (*nodeCheck).checkSubschemas, (*nodeCheck).checkArray, (*nodeCheck).checkObject} {
		if part(s); !s.ok && !collect {
			return false
		}
	}
	up.add(s.evaluated)
	return s.ok
}

// fail reports a problem with the value.
func (s *nodeCheck) fail(keyword, format string, args ...any) {
	s.addProblem(Problem{Schema: s.n.at + keyword, Message: s.message(format, args)})
}

// message formats a message, if problems are collected.
func (s *nodeCheck) message(format string, args []any) string {
	if !s.collect {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// addProblem reports a problem. Its path is relative to the value.
func (s *nodeCheck) addProblem(p Problem) {
	s.ok = false
	if !s.collect {
		return
	}
	var path []string
	for w := s.at; w != nil; w = w.up {
		path = append(path, w.name)
	}
	slices.Reverse(path)
	p.Path = append(path, p.Path...)
	s.problems = append(s.problems, p)
}

// applyChild checks a part of the value against a node.
func (s *nodeCheck) applyChild(n *node, v any, name string) {
	if s.ok || s.collect {
		s.ok = s.check(n, v, &location{s.at, name}, s.in, nil, s.collect) && s.ok
	}
}

// applySame checks the same value against another node.
func (s *nodeCheck) applySame(n *node) {
	if n != nil && (s.ok || s.collect) {
		s.ok = s.check(n, s.v, s.at, s.in, s.evaluated, s.collect) && s.ok
	}
}

// matches reports whether the value matches a node. Only then it adds what the node evaluated.
func (s *nodeCheck) matches(n *node) bool {
	looked := s.schema.newEvaluated()
	if !s.check(n, s.v, s.at, s.in, looked, false) {
		return false
	}
	s.evaluated.add(looked)
	return true
}

// checkType checks the keywords for values of any type.
func (s *nodeCheck) checkType() {
	n := s.n
	got := kindOf(s.v)
	switch {
	case n.alwaysFalse:
		s.fail("", "is not allowed")
	case got == 0:
		s.fail("", "is not a JSON value")
	case n.types != 0 && n.types&got == 0:
		s.fail("/type", "expected %s, got %s", kindWords(n.types), gotWords(s.v))
	}
	if n.enum != nil && !n.enum.keys[s.key()] {
		s.fail("/enum", "%s is not one of %s", quoted(plain(s.v)), n.enum.words())
	}
	if n.constant != nil && s.key() != n.constant.key {
		s.fail("/const", "must be %s", shown(n.constant.value))
	}
}

// key returns the canonical text of the value. It costs one step for each value in it.
func (s *nodeCheck) key() string {
	s.stepsLeft -= size(s.v)
	return string(appendCanonical(nil, s.v))
}

// checkNumber checks the keywords for numbers.
func (s *nodeCheck) checkNumber() {
	if len(s.n.numbers) == 0 && s.n.multiple == nil {
		return
	}
	d, ok := decimalOf(s.v)
	if !ok {
		return
	}
	for _, b := range s.n.numbers {
		if !b.allows(d) {
			s.fail("/"+b.keyword, boundWords[b.keyword], plain(s.v), b.written)
		}
	}
	if s.n.multiple != nil && !d.multipleOf(*s.n.multiple) {
		s.fail("/multipleOf", "%s is not a multiple of %s", plain(s.v), s.n.multipleText)
	}
}

// checkText checks the keywords for text. Lengths are counted in characters.
func (s *nodeCheck) checkText() {
	text, ok := s.v.(string)
	if !ok {
		return
	}
	if s.n.minLength != nil || s.n.maxLength != nil {
		s.atLeast("minLength", "characters", utf8.RuneCountInString(text), s.n.minLength)
		s.atMost("maxLength", "characters", utf8.RuneCountInString(text), s.n.maxLength)
	}
	if p := s.n.pattern; p != nil && !p.re.MatchString(text) {
		s.fail("/pattern", "%s does not match pattern %s", quoted(text), quoted(p.written))
	}
	if s.n.format != "" {
		if err := formatError(s.n.format, text); err != nil {
			s.fail("/format", "%s is not a valid %s: %v", quoted(text), s.n.format, err)
		}
	}
}

// boundWords has the message for each kind of bound.
var boundWords = map[string]string{
	"minimum":          "%s is below the minimum of %s",
	"maximum":          "%s is above the maximum of %s",
	"exclusiveMinimum": "%s must be above %s",
	"exclusiveMaximum": "%s must be below %s",
}

// atLeast checks a number of things against a minimum.
func (s *nodeCheck) atLeast(keyword, things string, got int, want *int) {
	if want != nil && got < *want {
		s.fail("/"+keyword, "has %d %s, at least %d are needed", got, things, *want)
	}
}

// atMost checks a number of things against a maximum.
func (s *nodeCheck) atMost(keyword, things string, got int, want *int) {
	if want != nil && got > *want {
		s.fail("/"+keyword, "has %d %s, at most %d are allowed", got, things, *want)
	}
}

// checkSubschemas checks the value against the schemas that the node combines.
func (s *nodeCheck) checkSubschemas() {
	n := s.n
	s.applySame(n.ref)
	s.applySame(s.dynamicTarget())
	for _, part := range n.allOf {
		s.applySame(part)
	}
	if n.ifNode != nil {
		if s.matches(n.ifNode) {
			s.applySame(n.thenNode)
		} else {
			s.applySame(n.elseNode)
		}
	}
	s.checkAlternatives()
	if n.not != nil && s.check(n.not, s.v, s.at, s.in, nil, false) {
		s.fail("/not", "is a value that is not allowed (not)")
	}
}

// checkAlternatives checks anyOf and oneOf. It stops at the first match of anyOf, unless a node needs
// to know what all of them evaluated.
func (s *nodeCheck) checkAlternatives() {
	held := 0
	for _, part := range s.n.anyOf {
		if (held == 0 || s.evaluated != nil) && s.matches(part) {
			held++
		}
	}
	if held == 0 && s.n.anyOf != nil {
		s.fail("/anyOf", "matches none of the alternatives (anyOf)")
	}
	held = 0
	for _, part := range s.n.oneOf {
		if held < 2 && s.matches(part) {
			held++
		}
	}
	if held != 1 && s.n.oneOf != nil {
		s.fail("/oneOf", "must match exactly one of the alternatives (oneOf)")
	}
}

// dynamicTarget returns the node to which $dynamicRef leads: the schema with that anchor in the
// outermost resource on the way to this node.
func (s *nodeCheck) dynamicTarget() *node {
	to := s.n.dynamic
	if to == nil || s.n.dynamicName == "" {
		return to
	}
	for in := s.in; in != nil; in = in.up {
		if in.res == nil {
			continue
		}
		if outer := in.res.dynamic[s.n.dynamicName]; outer != nil {
			to = outer
		}
	}
	return to
}

func index(i int) string { return strconv.Itoa(i) }
