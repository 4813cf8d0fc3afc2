package expr

import (
	"errors"
	"strings"
)

// scanner splits a template into text and placeholders, in one pass.
type scanner struct {
	src      string
	names    Names
	pieces   []piece
	problems []Problem
	text     strings.Builder // text since the last placeholder
}

// scan splits src. Braces that are not a reference stay as text.
func scan(src string, names Names) ([]piece, []Problem) {
	if strings.IndexByte(src, '{') < 0 {
		return []piece{{text: src}}, nil
	}
	s := &scanner{src: src, names: names}
	for i := 0; i < len(src); {
		next := strings.IndexByte(src[i:], '{')
		if next < 0 {
			s.text.WriteString(src[i:])
			break
		}
		s.text.WriteString(src[i : i+next])
		i += next
		i += s.brace(i)
	}
	s.flush()
	return s.pieces, s.problems
}

func (s *scanner) flush() {
	if s.text.Len() > 0 {
		s.pieces = append(s.pieces, piece{text: s.text.String()})
		s.text.Reset()
	}
}

// brace reads what starts with the brace at i, and returns how many bytes it read.
func (s *scanner) brace(i int) int {
	if i > 0 && s.src[i-1] == '$' {
		s.text.WriteByte('{')
		return 1
	}
	if n := s.escaped(i); n > 0 {
		s.text.WriteString(s.src[i+1 : i+n-1])
		return n
	}
	ph, n := s.reference(i)
	if n == 0 {
		ph, n = s.ternary(i)
	}
	if n == 0 {
		s.text.WriteByte('{')
		return 1
	}
	s.flush()
	s.pieces = append(s.pieces, piece{placeholder: ph})
	return n
}

// escaped reads {{X}}. It is the text {X}, if X could be a reference.
func (s *scanner) escaped(i int) int {
	if !strings.HasPrefix(s.src[i:], "{{") {
		return 0
	}
	inner := scanner{src: s.src, names: s.names}
	_, n := inner.reference(i + 1)
	if n == 0 || !strings.HasPrefix(s.src[i+1+n:], "}") {
		return 0
	}
	return n + 2
}

// reference reads {P}, {RAW:P} and {P:transform}. It returns 0 bytes if there is none.
func (s *scanner) reference(i int) (*placeholder, int) {
	body := s.src[i+1:]
	raw := strings.HasPrefix(body, "RAW:")
	if raw {
		body = body[len("RAW:"):]
	}
	n := refLen(body)
	if n == 0 || n == len(body) || n > maxPlaceholder || body[n] != '}' && body[n] != ':' {
		return nil, 0
	}
	end := closing(body, n)
	if end < 0 || body[n] == ':' && !transformShaped(body[n+1:end]) {
		return nil, 0
	}
	ref, typ, ok := resolve(body[:n], s.names)
	ref.Raw, ref.Off, ref.Len = raw, i, len(s.src)-i-len(body)+end+1
	if !ok {
		s.warnUndeclared(body[:n], ref)
		return nil, 0
	}
	ph := &placeholder{off: i, len: ref.Len, ref: ref}
	s.report(checkRef(&ph.ref, typ))
	if raw && ref.Class != Parameter && ref.Class != Variable {
		s.report(rawProblem(ref))
	}
	if body[n] == ':' {
		ph.transforms = s.transforms(body[n+1:end], i+ref.Len-1-end+n+1)
	}
	return ph, ref.Len
}

// maxPlaceholder is how many bytes are read ahead after a brace. Without the limit, a text of many
// braces would take quadratic time.
const maxPlaceholder = 1000

// closing returns the offset of the brace that ends a reference: the first one on the line outside
// the parentheses of format(...). It returns -1 if there is none.
func closing(s string, from int) int {
	depth := 0
	for i := from; i < min(len(s), maxPlaceholder); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		case '}':
			if depth <= 0 {
				return i
			}
		case '\n', '{':
			return -1
		}
	}
	return -1
}

// transformShaped reports whether text after a colon could name transforms. {name: .field} could
// not: it is a jq program.
func transformShaped(list string) bool {
	for _, name := range splitTransforms(list) {
		word, pattern, parens := strings.Cut(name, "(")
		if !isName(word) || parens && !strings.HasSuffix(pattern, ")") {
			return false
		}
	}
	return true
}

func (s *scanner) report(p *Problem) {
	if p != nil {
		s.problems = append(s.problems, *p)
	}
}

func rawProblem(ref Ref) *Problem {
	p := problemf(CodeRaw, ref.Off, ref.Len, "remove RAW:, and flowrun passes the value safely as data",
		"cannot use RAW with %q: only parameters and predefined variables can be raw", ref.Root)
	return &p
}

// transforms parses "trim:urlencode", which starts at off.
func (s *scanner) transforms(list string, off int) []Transform {
	var ts []Transform
	for _, name := range splitTransforms(list) {
		t, err := newTransform(name)
		switch {
		case errors.Is(err, ErrJavaScript):
			s.problems = append(s.problems, problemf(CodeTransform, off, len(name),
				"the transforms are "+TransformList, "unknown transform %q", name))
		case err != nil:
			s.problems = append(s.problems, problemf(CodeTransform, off, len(name), "", "%v", err))
		}
		ts = append(ts, t)
		off += len(name) + 1
	}
	return ts
}

// warnUndeclared warns of text that looks like a reference to something undeclared: an
// {UPPER_CASE} name, or a field of an unknown step.
func (s *scanner) warnUndeclared(text string, ref Ref) {
	hint := "declare it, or leave it unchanged if you want the braces"
	if isUpperName(text) {
		p := problemf(CodeUndeclared, ref.Off, ref.Len, hint, "{%s} is not a declared parameter, so it is kept as text", text)
		p.Warning = true
		s.problems = append(s.problems, p)
		return
	}
	root, field, _ := strings.Cut(text, ".")
	if _, ok := stepFields[field]; ok {
		p := problemf(CodeUndeclared, ref.Off, ref.Len, "check the name of the step", "there is no step %q, so {%s} is kept as text", root, text)
		p.Warning = true
		s.problems = append(s.problems, p)
	}
}

func isUpperName(s string) bool {
	return len(s) > 1 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// ternary reads {cond ? a : b}. It is a placeholder only if the condition mentions a known name
// and both branches are strings or references. Text of an awk or jq program rarely is.
func (s *scanner) ternary(i int) (*placeholder, int) {
	end, question, colon := ternaryMarks(s.src[i:])
	if question < 0 || colon < 0 || end < 0 {
		return nil, 0
	}
	body := s.src[i : i+end]
	cond := body[1:question]
	if !mentionsKnownName(cond, s.names) {
		return nil, 0
	}
	then, ps1, ok1 := s.branch(body[question+1:colon], i+question+1)
	els, ps2, ok2 := s.branch(body[colon+1:], i+colon+1)
	if !ok1 || !ok2 {
		return nil, 0
	}
	c, problems := parseCondition(cond, s.names, condTernary)
	for _, p := range problems {
		p.Off += i + 1
		s.problems = append(s.problems, p)
	}
	s.problems = append(append(s.problems, ps1...), ps2...)
	for k := range c.refs {
		c.refs[k].Off += i + 1
	}
	return &placeholder{off: i, len: end + 1, choice: &choice{cond: c, then: then, els: els}}, end + 1
}

// ternaryMarks finds the closing brace of a text that starts with a brace, and the first ? and
// the last : outside quotes and inner braces. An offset is -1 if there is none on the line.
func ternaryMarks(s string) (end, question, colon int) {
	question, colon = -1, -1
	depth := 0
	var quote byte
	for i := 0; i < min(len(s), maxPlaceholder); i++ {
		c := s[i]
		switch {
		case c == '\n':
			return -1, -1, -1
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i, question, colon
			}
		case c == '?' && depth == 1 && question < 0:
			question = i
		case c == ':' && depth == 1 && question >= 0 && colon < 0:
			colon = i
		}
	}
	return -1, -1, -1
}

// mentionsKnownName reports whether a condition mentions a known name outside strings.
func mentionsKnownName(cond string, names Names) bool {
	for _, t := range tokens(cond) {
		if t.kind != tokenName && t.kind != tokenPlaceholder {
			continue
		}
		if _, _, ok := resolve(strings.Trim(t.text, "{}"), names); ok {
			return true
		}
	}
	return false
}

// branch reads one side of a ternary: 'text', "text", P, {P} or P:transform.
func (s *scanner) branch(src string, off int) (branch, []Problem, bool) {
	text := strings.TrimSpace(src)
	off += strings.Index(src, text)
	if n := len(text); n >= 2 && (text[0] == '\'' || text[0] == '"') && strings.IndexByte(text[1:], text[0]) == n-2 {
		return branch{literal: text[1 : n-1]}, nil, true
	}
	bare := !strings.HasPrefix(text, "{")
	if bare {
		text = "{" + text + "}"
		off--
	}
	inner := scanner{src: text, names: s.names}
	ph, n := inner.reference(0)
	if n != len(text) {
		return branch{}, nil, false
	}
	for i := range inner.problems {
		inner.problems[i].Off += off
	}
	ph.ref.Off += off
	if bare {
		ph.ref.Off++
		ph.ref.Len -= 2
	}
	return branch{isRef: true, ref: ph.ref, transforms: ph.transforms}, inner.problems, true
}
