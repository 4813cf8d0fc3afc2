package argparse

import "strings"

// brace reads an object inside other text. Braces around a few words, such as {name}, are
// prose.
func (s *scanner) brace() bool {
	start := s.pos
	if end := s.placeholder(start); end > 0 {
		s.pos = end
		return true
	}
	if !s.unnamed(start) {
		return false
	}
	n, ok := s.exactOr(func() (node, bool) { return s.doubledObject() })
	if !ok {
		return false
	}
	s.add(n, start, "")
	return s.checkAfterObject()
}

// doubledObject reads an object. Its braces may be doubled, as in a template.
func (s *scanner) doubledObject() (node, bool) {
	inner := s.skipSpaces(s.pos + 1)
	if s.byteAt(inner) != '{' || !s.isKey(s.skipSpaces(inner+1)) {
		return s.object(s.root)
	}
	s.fix("bracket", s.pos)
	s.pos = inner
	n, ok := s.object(s.root)
	if ok && s.byteAt(s.skipSpaces(s.pos)) == '}' {
		s.pos = s.skipSpaces(s.pos)
	}
	switch {
	case ok && s.byteAt(s.pos) == '}':
		s.pos++
	case ok && s.skipSpaces(s.pos) < len(s.text):
		return n, s.failAt("syntax", s.pos, "the object starts with two braces and ends with one")
	}
	return n, ok
}

// exactOr reads JSON at pos. If that fails, it calls tolerant.
func (s *scanner) exactOr(tolerant func() (node, bool)) (node, bool) {
	n, end, code, ok := readJSON(s.source, s.pos)
	if code == "too-deep" {
		return n, s.failAt(code, end, "objects and arrays are nested more than %d levels deep", maxDepth)
	}
	if ok {
		s.pos = end
		return n, true
	}
	s.sloppy = true
	return tolerant()
}

// placeholder returns the end of braces around prose, as in {name} or {{x}}, or 0.
func (s *scanner) placeholder(i int) int {
	if i == s.first {
		return 0
	}
	end := i
	for s.byteAt(end) == '{' && end-i < 3 {
		end++
	}
	braces := end - i
	words := end
	for end < len(s.text) && end-i < 80 && !strings.ContainsRune("{}[]()\n\r:=,\"'`\\", rune(s.text[end])) {
		end++
	}
	s.Use(end - i)
	if end == words || strings.TrimSpace(s.text[words:end]) == "" || !s.has(end, "}}}"[:braces]) || strings.Contains(s.text[words:end], "...") || strings.Contains(s.text[words:end], "…") {
		return 0
	}
	return end + braces
}

// bracket reads an array that contains one call. Other brackets are prose.
func (s *scanner) bracket() bool {
	start := s.pos
	if k := s.skipSpaces(start + 1); s.byteAt(k) != '{' && !s.nestedList(k) {
		s.pos = s.marker(start)
		return true
	}
	if !s.unnamed(start) {
		return false
	}
	n, ok := s.exactOr(func() (node, bool) { return s.list(arrayOf(s.root), ']') })
	if ok {
		s.add(n, start, "")
	}
	return ok
}

// nestedList reports whether the list at k contains one object: [[{...}]].
func (s *scanner) nestedList(k int) bool {
	return s.byteAt(k) == '[' && s.byteAt(s.skipSpaces(k+1)) == '{'
}

// marker returns the end of a marker such as [TOOL_CALLS] or [/TOOL_REQUEST] at i. Without a
// marker, it returns the position after the bracket.
func (s *scanner) marker(i int) int {
	end := i + 1
	for end < len(s.text) && end-i < 40 && (s.text[end] >= 'A' && s.text[end] <= 'Z' || s.text[end] == '_' || s.text[end] == '/') {
		end++
	}
	if end > i+2 && s.byteAt(end) == ']' {
		return end + 1
	}
	return i + 1
}

// unnamed refuses an object or array after a declared name or a quote: it may be the value of
// an outer object that was not recognized.
func (s *scanner) unnamed(start int) bool {
	i := s.back(start)
	switch c := s.byteAt(i); {
	case i == start:
		return true
	case c == '\'' || c == '"':
		return s.failAt("ambiguous", start, "this object is inside quotes: it may be the text of another value")
	case c == '>':
		return s.inKnownTag(start, i)
	case c != ':' && c != '=':
		return true
	}
	text := strings.TrimRight(s.text[max(0, i-maxKey):i], " \t\r\n\"'`*")
	word := text[strings.LastIndexAny(text, " \t\r\n\"'`,;{}[]()*:=")+1:]
	if word == "" || !s.inputName(word) {
		return true
	}
	return s.failAt("ambiguous", start, "the name %s is before the object: it is not clear whether the object is its value", quote(word))
}

// checkAfterObject refuses text after an object that may be part of it.
func (s *scanner) checkAfterObject() bool {
	k := s.skipLineSpaces(s.pos)
	if c := s.byteAt(k); c == '"' || c == '\'' {
		return s.failAt("ambiguous", k, "a quote follows the object: it may be part of it")
	}
	k = s.skipSpaces(k)
	if s.byteAt(k) == ',' {
		if k = s.skip(k + 1); s.quoteAt(k) != nil {
			return s.failAt("ambiguous", k, "a text follows the object: it may be part of it")
		}
	}
	if name, ok := s.keyAt(k); ok && s.inputName(name) {
		return s.failAt("ambiguous", k, "the name %s follows the object: it may be part of it", quote(name))
	}
	return true
}

// stray refuses an unmatched closing bracket after an object: the object may extend to it.
func (s *scanner) stray() bool {
	if len(s.found) == 0 {
		return true
	}
	last := &s.found[len(s.found)-1]
	gap := s.text[last.end:s.pos]
	s.Use(len(gap))
	if strings.Trim(gap, " \t\r\n}])`") == "" && !strings.ContainsRune(",[(:=", rune(s.byteAt(s.back(last.start)))) {
		return true
	}
	return s.failAt("ambiguous", s.pos, "unexpected closing bracket: a quote or an opening bracket is missing before it")
}

// brokenQuotes reports whether the quotes after i are unpaired, unlike quotes in prose.
func (s *scanner) brokenQuotes(i int) bool {
	for _, q := range []byte{'"', '\''} {
		count := 0
		for at := i; at < len(s.text); at++ {
			if s.text[at] != q || s.apostrophe(at, 1) {
				continue
			}
			if count%2 == 0 && !s.opensPair(at, 1) {
				return true
			}
			count++
		}
		if count%2 != 0 {
			return true
		}
	}
	return false
}
