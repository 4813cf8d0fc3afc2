package find

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/lookahead"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// callReader reads the arguments of a function call.
type callReader struct{ *grammar.Parser }

// wrapped returns the start of the list or print around the call from start to pos, as in [call()] and print(call()). It
// returns start if there is none.
func (s *callReader) wrapped(start int) int {
	before := s.Text[:start]
	switch s.ByteAt(s.Pos) {
	case ']':
		before, _ = strings.CutSuffix(before, "[")
	case ')':
		before, _ = strings.CutSuffix(before, "print(")
	}
	if len(before) == start && s.ByteAt(s.Pos) == ')' {
		before, _ = strings.CutSuffix(before, "(")
		if k := s.SkipSpaces(s.Pos + 1); len(before) > 0 || k < len(s.Text) {
			return start
		}
	}
	if len(before) == start || len(before) > 0 && token.IsWordByte(before[len(before)-1]) && s.ByteAt(s.Pos) != ']' || len(before) > 0 && before[len(before)-1] == '.' {
		return start
	}
	return len(before)
}

// alone refuses a call that is part of a larger expression.
func (s *callReader) alone(start int) bool {
	before, after := byte(0), s.ByteAt(s.Pos)
	if start > 0 {
		before = s.Text[start-1]
	}
	if before == '(' || before == '[' || after == '[' || after == '(' || after == '.' && token.IsWordByte(s.ByteAt(s.Pos+1)) {
		return s.FailAt("code", start, "the call is part of other code, which is not evaluated; send only the call")
	}
	return true
}

// arguments reports whether the content of parentheses looks like arguments. In prose, only an object and declared names
// do.
func (s *callReader) arguments(open int, atStart bool) bool {
	k := s.SkipSpaces(open + 1)
	c := s.ByteAt(k)
	if !atStart {
		return c == '{' || s.Has(k, "**{") || s.InputAt(k)
	}
	return c == ')' || c == '{' || c == '*' || s.QuoteAt(k) != nil || s.IsKey(k)
}

// assigned reports whether a value follows the declared name that ends at end.
func (s *callReader) assigned(name string, end int) bool {
	if c := s.ByteAt(end); c != ':' && c != '=' && c != ' ' || !s.InputName(name) {
		return false
	}
	i := s.SkipLineSpaces(end)
	if !s.IsSeparator(i) {
		return false
	}
	i = s.SkipLineSpaces(i + 1)
	c := s.ByteAt(i)
	return s.QuoteAt(i) != nil || c >= '0' && c <= '9' || c == '[' || s.Has(i, "true") || s.Has(i, "false")
}

// parenthesis reads the arguments of a call: name=value pairs, or one object.
func (s *callReader) parenthesis(dispatcher bool) (node.Node, bool) {
	start := s.Pos
	s.Pos++
	if !s.Space() || dispatcher && s.QuoteAt(s.Pos) != nil && !s.IsKey(s.Pos) && !s.callee() {
		return node.Node{}, false
	}
	if s.Has(s.Pos, "**") {
		s.Pos += 2
		if s.ByteAt(s.Pos) != '{' {
			return node.Node{}, s.FailAt("code", s.Pos-2, "** is code, which is not evaluated; write names and values")
		}
	}
	switch q := s.QuoteAt(s.Pos); {
	case s.ByteAt(s.Pos) == '{':
		return s.single(func() (node.Node, bool) { return s.Object(s.Root) })
	case q != nil && !s.IsKey(s.Pos):
		inner := s.SkipSpaces(s.Pos + len(q.Open))
		if s.ByteAt(inner) != '{' && s.ByteAt(inner) != '\\' {
			return node.Node{}, s.FailAt("positional", s.Pos, "a value has no name; write name=value")
		}
		return s.single(func() (node.Node, bool) { return s.QuotedText(schema.Text(), q) })
	}
	return s.Members(start, lookahead.Frame{Closer: ')', Schema: s.Root})
}

// callee reads the tool name that is the first argument of a dispatcher.
func (s *callReader) callee() bool {
	off := s.At(s.Pos)
	if !s.Push(lookahead.Frame{Closer: ')', Schema: schema.Text(), List: true}) {
		return false
	}
	defer s.Pop()
	name, ok := s.QuotedText(schema.Text(), s.QuoteAt(s.Pos))
	if !ok || !s.Calls(name.Text, int(off)) {
		return false
	}
	return s.optionalComma()
}

// single reads the only argument of a call, and the closing parenthesis.
func (s *callReader) single(read func() (node.Node, bool)) (node.Node, bool) {
	if !s.Push(lookahead.Frame{Closer: ')', Schema: s.Root, List: true}) {
		return node.Node{}, false
	}
	defer s.Pop()
	n, ok := read()
	if !ok || !s.optionalComma() {
		return n, false
	}
	if s.Pos >= len(s.Text) {
		return n, s.Truncated()
	}
	if s.Text[s.Pos] != ')' {
		return n, s.FailAt("positional", s.Pos, "the call has other values besides its object")
	}
	s.Pos++
	return n, true
}

// optionalComma skips the comma after an argument of a call, if there is one.
func (s *callReader) optionalComma() bool {
	if !s.Space() {
		return false
	}
	if s.ByteAt(s.Pos) == ',' {
		s.Pos++
	}
	return s.Space()
}
