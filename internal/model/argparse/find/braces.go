package find

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// brace reads an object inside other text. Braces around a few words, such as {name}, are prose.
func (s *scanner) brace() bool {
	start := s.Pos
	if end := s.placeholder(start); end > 0 {
		s.Pos = end
		return true
	}
	if !s.unnamed(start) {
		return false
	}
	n, ok := s.exactOr(func() (node.Node, bool) { return s.doubledObject() })
	if !ok {
		return false
	}
	s.add(n, start, "")
	return s.checkAfterObject()
}

// doubledObject reads an object. Its braces may be doubled, as in a template.
func (s *scanner) doubledObject() (node.Node, bool) {
	inner := s.SkipSpaces(s.Pos + 1)
	if s.ByteAt(inner) != '{' || !s.IsKey(s.SkipSpaces(inner+1)) {
		return s.Object(s.Root)
	}
	s.Fix("bracket", s.Pos)
	s.Pos = inner
	n, ok := s.Object(s.Root)
	if ok && s.ByteAt(s.SkipSpaces(s.Pos)) == '}' {
		s.Pos = s.SkipSpaces(s.Pos)
	}
	switch {
	case ok && s.ByteAt(s.Pos) == '}':
		s.Pos++
	case ok && s.SkipSpaces(s.Pos) < len(s.Text):
		return n, s.FailAt("syntax", s.Pos, "the object starts with two braces and ends with one")
	}
	return n, ok
}

// exactOr reads JSON at pos. If that fails, it calls tolerant.
func (s *scanner) exactOr(tolerant func() (node.Node, bool)) (node.Node, bool) {
	n, end, code, ok := node.ReadJSON(s.Source, s.Pos)
	if code == "too-deep" {
		return n, s.FailAt(code, end, "objects and arrays are nested more than %d levels deep", node.MaxDepth)
	}
	if ok {
		s.Pos = end
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
	for s.ByteAt(end) == '{' && end-i < 3 {
		end++
	}
	braces := end - i
	words := end
	for end < len(s.Text) && end-i < 80 && !strings.ContainsRune("{}[]()\n\r:=,\"'`\\", rune(s.Text[end])) {
		end++
	}
	s.Use(end - i)
	if end == words || strings.TrimSpace(s.Text[words:end]) == "" || !s.Has(end, "}}}"[:braces]) || strings.Contains(s.Text[words:end], "...") || strings.Contains(s.Text[words:end], "…") {
		return 0
	}
	return end + braces
}

// bracket reads an array that contains one call, [{...}] or [[{...}]]. Other brackets are prose.
func (s *scanner) bracket() bool {
	start := s.Pos
	if k := s.SkipSpaces(start + 1); s.ByteAt(k) != '{' && (s.ByteAt(k) != '[' || s.ByteAt(s.SkipSpaces(k+1)) != '{') {
		s.Pos = s.marker(start)
		return true
	}
	if !s.unnamed(start) {
		return false
	}
	n, ok := s.exactOr(func() (node.Node, bool) { return s.List(schema.ArrayOf(s.Root), ']') })
	if ok {
		s.add(n, start, "")
	}
	return ok
}

// marker returns the end of a marker such as [TOOL_CALLS] or [/TOOL_REQUEST] at i. Without a marker, it returns the
// position after the bracket.
func (s *scanner) marker(i int) int {
	end := i + 1
	for end < len(s.Text) && end-i < 40 && (s.Text[end] >= 'A' && s.Text[end] <= 'Z' || s.Text[end] == '_' || s.Text[end] == '/') {
		end++
	}
	if end > i+2 && s.ByteAt(end) == ']' {
		return end + 1
	}
	return i + 1
}

// unnamed refuses an object or array after a declared name or a quote: it may be the value of an outer object that was not
// recognized.
func (s *scanner) unnamed(start int) bool {
	i := s.Back(start)
	switch c := s.ByteAt(i); {
	case i == start:
		return true
	case c == '\'' || c == '"':
		return s.FailAt("ambiguous", start, "this object is inside quotes: it may be the text of another value")
	case c == '>':
		return s.inKnownTag(start, i)
	case c != ':' && c != '=':
		return true
	}
	text := strings.TrimRight(s.Text[max(0, i-token.MaxKey):i], " \t\r\n\"'`*")
	word := text[strings.LastIndexAny(text, " \t\r\n\"'`,;{}[]()*:=")+1:]
	if word == "" || !s.InputName(word) {
		return true
	}
	return s.FailAt("ambiguous", start, "the name %s is before the object: it is not clear whether the object is its value", report.Quote(word))
}

// checkAfterObject refuses text after an object that may be part of it.
func (s *scanner) checkAfterObject() bool {
	k := s.SkipLineSpaces(s.Pos)
	if c := s.ByteAt(k); c == '"' || c == '\'' {
		return s.FailAt("ambiguous", k, "a quote follows the object: it may be part of it")
	}
	k = s.SkipSpaces(k)
	if s.ByteAt(k) == ',' {
		if k = s.Skip(k + 1); s.QuoteAt(k) != nil {
			return s.FailAt("ambiguous", k, "a text follows the object: it may be part of it")
		}
	}
	if name, ok := s.KeyAt(k); ok && s.InputName(name) {
		return s.FailAt("ambiguous", k, "the name %s follows the object: it may be part of it", report.Quote(name))
	}
	return true
}

// brokenQuotes reports whether the quotes after i are unpaired, unlike quotes in prose.
func (s *scanner) brokenQuotes(i int) bool {
	for _, q := range []byte{'"', '\''} {
		count := 0
		for at := i; at < len(s.Text); at++ {
			if s.Text[at] != q || s.Apostrophe(at, 1) {
				continue
			}
			if count%2 == 0 && !s.OpensPair(at, 1) {
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
