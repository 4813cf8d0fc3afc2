package jsonschema

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// What bounds a check, so that none runs without end: how deep it goes, and how many
// schemas it looks at beside what the size of the value asks for.
const (
	maxDeep  = 10_000
	maxSteps = 1 << 20
	perValue = 1 << 10
)

// Validate is everything that is wrong with a value as encoding/json has it, sorted by
// the way to it; nil where nothing is. Numbers may be of any type of Go. Where none of
// several alternatives holds, that is the problem, and not what is wrong with each.
func (s *Schema) Validate(v any) []Problem {
	r := &run{schema: s, value: v, left: maxSteps}
	r.check(s.root, v, nil, nil, s.seen(), true)
	if r.exhausted {
		r.problems = append(r.problems, Problem{Message: "cannot be checked: the schema leads on without end, or asks for too many steps"})
	}
	return sorted(r.problems)
}

// sorted orders problems by their paths and leaves out what was said before.
func sorted(list []Problem) []Problem {
	slices.SortStableFunc(list, func(a, b Problem) int { return slices.Compare(a.Path, b.Path) })
	return slices.CompactFunc(list, func(a, b Problem) bool {
		return slices.Equal(a.Path, b.Path) && a.Message == b.Message
	})
}

// run is one call of Validate.
type run struct {
	schema    *Schema
	value     any
	problems  []Problem
	depth     int
	left      int  // steps
	sized     bool // the size of the value was added to left
	exhausted bool
}

// way leads from the value as a whole to the one that is looked at.
type way struct {
	up   *way
	name string
}

// scope is the resources on the way to a node, the last first.
type scope struct {
	up  *scope
	res *resource
}

// spend takes a step, and says whether there was one left.
func (r *run) spend() bool {
	if r.left--; r.left < 0 && !r.sized {
		r.sized = true
		r.left = size(r.value) * perValue
	}
	if r.left < 0 || r.depth > maxDeep {
		r.exhausted = true
	}
	return !r.exhausted
}

// size is the number of values in a value.
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

// spot is one node that is held against one value.
type spot struct {
	*run
	n     *node
	v     any
	at    *way
	in    *scope
	seen  *seen // what this node and those it leads to have looked at; nil where nobody asks
	tells bool  // problems are wanted, and not only whether there are any
	ok    bool
}

// check holds a value against a node. Without tells it stops at the first problem.
func (r *run) check(n *node, v any, at *way, in *scope, up *seen, tells bool) bool {
	if !r.spend() {
		return false
	}
	r.depth++
	defer func() { r.depth-- }()
	if in == nil || in.res != n.res {
		in = &scope{in, n.res}
	}
	s := &spot{run: r, n: n, v: v, at: at, in: in, seen: r.schema.seen(), tells: tells, ok: true}
	for _, part := range [...]func(*spot){(*spot).kind, (*spot).number, (*spot).text, (*spot).combine, (*spot).array, (*spot).object} {
		if part(s); !s.ok && !tells {
			return false
		}
	}
	up.add(s.seen)
	return s.ok
}

// fail tells a problem of the value, or of what more names lead to.
func (s *spot) fail(keyword, format string, args ...any) {
	s.problem(Problem{Schema: s.n.at + keyword, Message: s.message(format, args)})
}

// message is only written where somebody reads it.
func (s *spot) message(format string, args []any) string {
	if !s.tells {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// problem takes a problem whose path is what follows the spot's own.
func (s *spot) problem(p Problem) {
	s.ok = false
	if !s.tells {
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

// below holds a part of the value against a node.
func (s *spot) below(n *node, v any, name string) {
	if s.ok || s.tells {
		s.ok = s.check(n, v, &way{s.at, name}, s.in, nil, s.tells) && s.ok
	}
}

// here holds the value against another node as well.
func (s *spot) here(n *node) {
	if n != nil && (s.ok || s.tells) {
		s.ok = s.check(n, s.v, s.at, s.in, s.seen, s.tells) && s.ok
	}
}

// fits says whether the value keeps to a node, and only then notes what that looked at.
func (s *spot) fits(n *node) bool {
	looked := s.schema.seen()
	if !s.check(n, s.v, s.at, s.in, looked, false) {
		return false
	}
	s.seen.add(looked)
	return true
}

// kind is what is about values of any type.
func (s *spot) kind() {
	n := s.n
	got := kindOf(s.v)
	switch {
	case n.refused:
		s.fail("", "is not allowed")
	case got == 0:
		s.fail("", "is not a value that JSON has")
	case n.types != 0 && n.types&got == 0:
		s.fail("/type", "expected %s, got %s", kindWords(n.types), gotWords(s.v))
	}
	if n.enum != nil && !n.enum.keys[s.key()] {
		s.fail("/enum", "%s is none of %s", quoted(plain(s.v)), n.enum.words())
	}
	if n.constant != nil && s.key() != n.constant.key {
		s.fail("/const", "value must be %s", shown(n.constant.value))
	}
}

// key is the value's key, which takes as many steps as there are values in it.
func (s *spot) key() string {
	s.left -= size(s.v)
	return string(appendKey(nil, s.v))
}

// number is what is about numbers.
func (s *spot) number() {
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
		s.fail("/multipleOf", "%s is no multiple of %s", plain(s.v), s.n.step)
	}
}

// text is what is about texts; their length is counted in characters.
func (s *spot) text() {
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
			s.fail("/format", "%s is not valid %s: %v", quoted(text), s.n.format, err)
		}
	}
}

// boundWords say of a number and a bound that the one is beyond the other.
var boundWords = map[string]string{
	"minimum":          "%s is below the minimum of %s",
	"maximum":          "%s is above the maximum of %s",
	"exclusiveMinimum": "%s is not above %s",
	"exclusiveMaximum": "%s is not below %s",
}

// atLeast holds a number of things against the least there may be.
func (s *spot) atLeast(keyword, things string, got int, want *int) {
	if want != nil && got < *want {
		s.fail("/"+keyword, "has %d %s, at least %d are needed", got, things, *want)
	}
}

// atMost holds a number of things against the most there may be.
func (s *spot) atMost(keyword, things string, got int, want *int) {
	if want != nil && got > *want {
		s.fail("/"+keyword, "has %d %s, at most %d are allowed", got, things, *want)
	}
}

// combine holds the value against other schemas.
func (s *spot) combine() {
	n := s.n
	s.here(n.ref)
	s.here(s.dynamic())
	for _, part := range n.all {
		s.here(part)
	}
	if n.when != nil {
		if s.fits(n.when) {
			s.here(n.then)
		} else {
			s.here(n.otherwise)
		}
	}
	s.alternatives()
	if n.not != nil && s.check(n.not, s.v, s.at, s.in, nil, false) {
		s.fail("/not", "is what it must not be (not)")
	}
}

// alternatives are anyOf and oneOf. All of them are looked at where somebody asks what
// they have looked at.
func (s *spot) alternatives() {
	held := 0
	for _, part := range s.n.any {
		if (held == 0 || s.seen != nil) && s.fits(part) {
			held++
		}
	}
	if held == 0 && s.n.any != nil {
		s.fail("/anyOf", "none of the forms it may have (anyOf)")
	}
	held = 0
	for _, part := range s.n.one {
		if held < 2 && s.fits(part) {
			held++
		}
	}
	if held != 1 && s.n.one != nil {
		s.fail("/oneOf", "not exactly one of the forms it may have (oneOf)")
	}
}

// dynamic is what $dynamicRef leads to: the schema of that name in the outermost
// resource on the way here.
func (s *spot) dynamic() *node {
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
