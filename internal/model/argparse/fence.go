package argparse

import "strings"

// fence reads the line of a code fence. After an opening fence, candidates are marked. The
// fence ends with the candidate that is read, not at the next backticks: these may be part of
// a text.
func (s *scanner) fence() bool {
	mark := s.text[s.pos]
	start := s.pos
	for s.byteAt(s.pos) == mark {
		s.pos++
	}
	if s.marked > 0 {
		s.marked--
		s.fenced = false
		return true
	}
	s.marked++
	s.fenced = true
	// the language of the fence: json, tool_call, python
	end := s.pos
	for end < len(s.text) && end-s.pos < 40 && (isWordByte(s.text[end]) || s.text[end] == '+' || s.text[end] == '-') {
		end++
	}
	if k := s.skipLineSpaces(end); s.lineEnd(k) || strings.ContainsRune("{[<", rune(s.text[k])) {
		s.pos = k
	} else if word := strings.ToLower(s.text[s.pos:end]); word == "json" || word == "json5" || word == "tool_call" {
		s.pos = k
	}
	s.fix("fence", start)
	return s.linesUpTo(strings.Repeat(string(mark), 3))
}

func isWordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// linesUpTo reads lines of names and values up to the end of their fence or tag.
func (s *scanner) linesUpTo(shut string) bool {
	k, ok := s.linesAt(s.skipSpaces(s.pos))
	if !ok {
		return true
	}
	end := strings.Index(s.text[k:], shut)
	if end < 0 {
		return s.truncated()
	}
	return s.region(k, k+end)
}

// region reads lines of names and values from start to end.
func (s *scanner) region(start, end int) bool {
	n, ok := s.finder.descend(source{text: s.text[start:end], base: int(s.at(start)), shift: s.shift}).lines()
	if !ok {
		return false
	}
	s.pos = end
	s.add(n, start, "")
	return true
}
