package argparse

import (
	"slices"
	"strings"
)

// dispatchers are the functions that models call with the name of a tool.
var dispatchers = []string{"execute_tool", "call_tool", "callTool", "use_tool", "run_tool", "invoke_tool", "tool_call", "tool", "execute"}

// wrappers are the language functions that models write around arguments.
var wrappers = []string{"dict", "print", "json.dumps", "json.loads", "JSON.stringify", "JSON.parse"}

// word skips a word of prose, or reads the call that starts with it: search(query="x").
func (s *scanner) word() bool {
	start := s.pos
	end := s.bareKey(start)
	if end == start {
		s.pos++
		return true
	}
	name := strings.Trim(s.text[start:end], ".")
	open := end
	atStart := start == s.first || s.marked > 0 && len(s.found) == 0
	if atStart {
		open = s.skipLineSpaces(end)
	}
	if k, ok := s.spacedPairs(name, start, open); ok {
		return s.region(k, len(s.text))
	}
	if s.byteAt(open) != '(' {
		s.pos = end
		s.noteLoose(s.assigned(name, end))
		return s.addressed(start, end)
	}
	dispatcher := slices.Contains(dispatchers, lastPart(name)) && !s.isTool(name)
	ours := s.isTool(name) || slices.Contains(wrappers, name) && s.arguments(open, atStart)
	s.pos = open
	if !ours && !dispatcher {
		if !s.arguments(open, atStart) {
			s.pos = end
			return true
		}
		if !s.calls(name, int(s.at(start))) {
			return false
		}
	}
	n, ok := s.parenthesis(dispatcher)
	if !ok {
		return false
	}
	if from := s.wrapped(start); from < start {
		start = from
		s.pos++
	} else if !s.alone(start) {
		return false
	}
	s.add(n, start, "call")
	return true
}

// wrapped returns the start of the list or print around the call from start to pos, as in
// [call()] and print(call()). It returns start if there is none.
func (s *callReader) wrapped(start int) int {
	before := s.text[:start]
	switch s.byteAt(s.pos) {
	case ']':
		before, _ = strings.CutSuffix(before, "[")
	case ')':
		before, _ = strings.CutSuffix(before, "print(")
	}
	if len(before) == start && s.byteAt(s.pos) == ')' {
		before, _ = strings.CutSuffix(before, "(")
		if k := s.skipSpaces(s.pos + 1); len(before) > 0 || k < len(s.text) {
			return start
		}
	}
	if len(before) == start || len(before) > 0 && isWordByte(before[len(before)-1]) && s.byteAt(s.pos) != ']' || len(before) > 0 && before[len(before)-1] == '.' {
		return start
	}
	return len(before)
}

// pairs reads names and values in the brackets at pos: (p=10, d=100).
func (s *scanner) pairs(closer byte) bool {
	start := s.pos
	s.pos++
	n, ok := s.members(start, frame{closer: closer, schema: s.root})
	if ok {
		s.add(n, start, "bracket")
	}
	return ok
}

// isPairs reports whether the bracket at pos contains names and values. It must be at the
// start of the text, or of the fence or tag.
func (s *scanner) isPairs() bool {
	if s.pos != s.first && (s.marked == 0 || len(s.found) > 0) {
		return false
	}
	k := s.skipSpaces(s.pos + 1)
	name, ok := s.keyAt(k)
	if !ok || !s.inputName(name) {
		return false
	}
	after := s.bareKey(k)
	if q := s.quoteAt(k); q != nil {
		at, size := s.nextClose(q, k+len(q.open))
		after = at + size
	}
	after = s.skipSpaces(after)
	return s.byteAt(after) == '=' || s.definite(s.skipLineSpaces(after+s.separatorAt(after)))
}

// spacedPairs reports whether the text starts with the name of the tool and names with values
// follow: search query="cats" limit=5.
func (s *scanner) spacedPairs(name string, start, after int) (int, bool) {
	if start != s.first || !s.isTool(name) || s.byteAt(after) == '(' {
		return 0, false
	}
	if s.byteAt(after) == ':' {
		after = s.skipLineSpaces(after + 1)
	}
	k, ok := s.keyAt(after)
	return after, ok && s.inputName(k) && s.quoteAt(after) == nil && s.isSeparator(s.bareKey(after))
}

// alone refuses a call that is part of a larger expression.
func (s *callReader) alone(start int) bool {
	before, after := byte(0), s.byteAt(s.pos)
	if start > 0 {
		before = s.text[start-1]
	}
	if before == '(' || before == '[' || after == '[' || after == '(' || after == '.' && isWordByte(s.byteAt(s.pos+1)) {
		return s.failAt("code", start, "the call is part of other code, which is not evaluated; send only the call")
	}
	return true
}

// arguments reports whether the content of parentheses looks like arguments. In prose, only an
// object and declared names do.
func (s *callReader) arguments(open int, atStart bool) bool {
	k := s.skipSpaces(open + 1)
	c := s.byteAt(k)
	if !atStart {
		name, ok := s.keyAt(k)
		return c == '{' || s.has(k, "**{") || ok && s.inputName(name)
	}
	return c == ')' || c == '{' || c == '*' || s.quoteAt(k) != nil || s.isKey(k)
}

// assigned reports whether a value follows the declared name that ends at end.
func (s *callReader) assigned(name string, end int) bool {
	if c := s.byteAt(end); c != ':' && c != '=' && c != ' ' || !s.inputName(name) {
		return false
	}
	i := s.skipLineSpaces(end)
	if !s.isSeparator(i) {
		return false
	}
	i = s.skipLineSpaces(i + 1)
	c := s.byteAt(i)
	return s.quoteAt(i) != nil || c >= '0' && c <= '9' || c == '[' || s.has(i, "true") || s.has(i, "false")
}

// addressed refuses prose that names another tool: "Action: NAME" and "to=functions.NAME".
func (s *scanner) addressed(start, end int) bool {
	i := end + 1
	switch word := s.text[start:end]; {
	case word == "to" && s.has(i, "functions."):
	case (word == "Action" || word == "Tool" || word == "Function") && s.byteAt(end) == ':' && (start == 0 || s.text[start-1] == '\n'):
		i = s.skipLineSpaces(i)
	default:
		return true
	}
	name := s.text[i:s.bareKey(i)]
	return name == "" || s.calls(name, int(s.at(i)))
}

// parenthesis reads the arguments of a call: name=value pairs, or one object.
func (s *callReader) parenthesis(dispatcher bool) (node, bool) {
	start := s.pos
	s.pos++
	if !s.space() || dispatcher && s.quoteAt(s.pos) != nil && !s.isKey(s.pos) && !s.callee() {
		return node{}, false
	}
	if s.has(s.pos, "**") {
		s.pos += 2
		if s.byteAt(s.pos) != '{' {
			return node{}, s.failAt("code", s.pos-2, "** is code, which is not evaluated; write names and values")
		}
	}
	switch q := s.quoteAt(s.pos); {
	case s.byteAt(s.pos) == '{':
		return s.single(func() (node, bool) { return s.object(s.root) })
	case q != nil && !s.isKey(s.pos):
		inner := s.skipSpaces(s.pos + len(q.open))
		if s.byteAt(inner) != '{' && s.byteAt(inner) != '\\' {
			return node{}, s.failAt("positional", s.pos, "a value has no name; write name=value")
		}
		return s.single(func() (node, bool) { return s.quotedText(textSchema(), q) })
	}
	return s.members(start, frame{closer: ')', schema: s.root})
}

// callee reads the tool name that is the first argument of a dispatcher.
func (s *callReader) callee() bool {
	off := s.at(s.pos)
	if !s.push(frame{closer: ')', schema: textSchema(), list: true}) {
		return false
	}
	defer s.pop()
	name, ok := s.quotedText(textSchema(), s.quoteAt(s.pos))
	if !ok || !s.calls(name.text, int(off)) {
		return false
	}
	return s.optionalComma()
}

// single reads the only argument of a call, and the closing parenthesis.
func (s *callReader) single(read func() (node, bool)) (node, bool) {
	if !s.push(frame{closer: ')', schema: s.root, list: true}) {
		return node{}, false
	}
	defer s.pop()
	n, ok := read()
	if !ok || !s.optionalComma() {
		return n, false
	}
	if s.pos >= len(s.text) {
		return n, s.truncated()
	}
	if s.text[s.pos] != ')' {
		return n, s.failAt("positional", s.pos, "the call has other values besides its object")
	}
	s.pos++
	return n, true
}

// optionalComma skips the comma after an argument of a call, if there is one.
func (s *callReader) optionalComma() bool {
	if !s.space() {
		return false
	}
	if s.byteAt(s.pos) == ',' {
		s.pos++
	}
	return s.space()
}
