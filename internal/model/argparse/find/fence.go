package find

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// fence reads the line of a code fence. After an opening fence, candidates are marked. The
// fence ends with the candidate that is read, not at the next backticks: these may be part of
// a text.
func (s *scanner) fence() bool {
	mark := s.Text[s.Pos]
	start := s.Pos
	for s.ByteAt(s.Pos) == mark {
		s.Pos++
	}
	if s.marked > 0 {
		s.marked--
		s.fenced = false
		return true
	}
	s.marked++
	s.fenced = true
	// the language of the fence: json, tool_call, python
	end := s.Pos
	for end < len(s.Text) && end-s.Pos < 40 && (token.IsWordByte(s.Text[end]) || s.Text[end] == '+' || s.Text[end] == '-') {
		end++
	}
	if k := s.SkipLineSpaces(end); s.LineEnd(k) || strings.ContainsRune("{[<", rune(s.Text[k])) {
		s.Pos = k
	} else if word := strings.ToLower(s.Text[s.Pos:end]); word == "json" || word == "json5" || word == "tool_call" {
		s.Pos = k
	}
	s.Fix("fence", start)
	return s.linesUpTo(strings.Repeat(string(mark), 3))
}

// linesUpTo reads lines of names and values up to the end of their fence or tag.
func (s *scanner) linesUpTo(shut string) bool {
	k, ok := s.linesAt(s.SkipSpaces(s.Pos))
	if !ok {
		return true
	}
	end := strings.Index(s.Text[k:], shut)
	if end < 0 {
		return s.Truncated()
	}
	return s.region(k, k+end)
}

// region reads lines of names and values from start to end.
func (s *scanner) region(start, end int) bool {
	n, ok := s.finder.NewParser(node.Source{Text: s.Text[start:end], Base: int(s.At(start)), Shift: s.Shift}).Lines()
	if !ok {
		return false
	}
	s.Pos = end
	s.add(n, start, "")
	return true
}
