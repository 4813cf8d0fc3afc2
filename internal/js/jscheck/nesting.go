package jscheck

import (
	"slices"
	"strings"
)

// deepest returns the offset of the bracket that opens more than limit levels, -1 if none does. Brackets in texts,
// comments and regular expressions do not count. It reads a text before the parser does, so it must also read what is not
// JavaScript.
func deepest(text string, limit int) int {
	s := scanner{text: text}
	for s.at < len(s.text) {
		if s.skip() {
			continue
		}
		switch c := s.text[s.at]; c {
		case '(', '[', '{':
			s.open = append(s.open, c)
			if len(s.open) > limit {
				return s.at
			}
		case ')', ']', '}':
			s.close()
		}
		s.step()
	}
	return -1
}

// scanner reads a text from its beginning to its end.
type scanner struct {
	text string
	at   int
	open []byte // the open brackets; '$' is that of a value in a template
	last string // the last token: a word, or one character
}

// skip skips white space, and what has no brackets that count. It reports whether there was something.
func (s *scanner) skip() bool {
	rest := s.text[s.at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "//"):
		s.at += until(rest, 2, "\n")
	case strings.HasPrefix(rest, "/*"):
		s.at += until(rest, 2, "*/")
	case c == '\'' || c == '"':
		s.at += quotedLength(rest, c)
		s.last = "text"
	case c == '`':
		s.template()
	case c == '/' && s.beginsPattern():
		s.at += patternLength(rest)
		s.last = "pattern"
	case strings.IndexByte(" \t\r\n", c) >= 0:
		s.at++
	default:
		return false
	}
	return true
}

// step takes a word or one character.
func (s *scanner) step() {
	n := 1
	for wordByte(s.text[s.at]) && s.at+n < len(s.text) && wordByte(s.text[s.at+n]) {
		n++
	}
	s.last = s.text[s.at : s.at+n]
	s.at += n
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// close closes a bracket. The end of a value in a template continues the template.
func (s *scanner) close() {
	n := len(s.open)
	if n == 0 {
		return
	}
	in := s.open[n-1]
	s.open = s.open[:n-1]
	if in == '$' && s.text[s.at] == '}' {
		s.template()
		s.at--
	}
}

// template skips a template, or what follows a value in it, up to its end or its next value.
func (s *scanner) template() {
	for s.at++; s.at < len(s.text); s.at++ {
		switch {
		case s.text[s.at] == '\\':
			s.at++
		case s.text[s.at] == '`':
			s.at++
			s.last = "text"
			return
		case strings.HasPrefix(s.text[s.at:], "${"):
			s.at += 2
			s.open, s.last = append(s.open, '$'), "{"
			return
		}
	}
}

// beginsPattern reports whether a slash begins a regular expression: where a value may begin.
func (s *scanner) beginsPattern() bool {
	switch {
	case s.last == "":
		return true
	case wordByte(s.last[0]):
		return slices.Contains([]string{"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "instanceof", "await", "yield"}, s.last)
	}
	return !strings.Contains(")]}", s.last)
}

// until returns the length of a text up to the end of what is searched, from an offset on.
func until(text string, from int, what string) int {
	if i := strings.Index(text[from:], what); i >= 0 {
		return from + i + len(what)
	}
	return len(text)
}

// quotedLength returns the length of a text in quotes, 1 if its line does not close it.
func quotedLength(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n':
			return 1
		case quote:
			return i + 1
		}
	}
	return 1
}

// patternLength returns the length of a regular expression, 1 if its line does not close it.
func patternLength(text string) int {
	class := false
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '\n':
			return 1
		case c == '[' || c == ']':
			class = c == '['
		case c == '/' && !class:
			return i + 1
		}
	}
	return 1
}
