package find

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
)

// finder finds the call in a text, and removes its envelopes.
type finder struct{ *grammar.Reading }

// candidate is a part of a text that may be the call.
type candidate struct {
	node.Node
	start, end int
	marked     bool // inside a fence or tag
}

// isEmpty reports whether the candidate is {}, which is not a call if something is required.
func (c candidate) isEmpty() bool { return c.Kind == node.Object && len(c.Children) == 0 }

// scanner finds candidates in a text, from left to right. It does not look inside a candidate.
type scanner struct {
	*grammar.Parser
	documents
	tagReader
	callReader
	finder      *finder
	first       int // position of the first character that is not a space
	found       []candidate
	marked      int // number of open fences and tags
	sawThinking bool
	loose       bool // a parameter with a value is outside of all candidates
	within      bool // and inside a fence or tag
	fenced      bool // a fence is open
	sloppy      bool // an object was not strict JSON
}

// add adds a candidate. An equal candidate is a repetition.
func (s *scanner) add(n node.Node, start int, kind string) {
	if kind != "" {
		s.Fix(kind, start)
	}
	c := candidate{n, start, s.Pos, s.marked > 0}
	if last := len(s.found) - 1; last >= 0 && s.found[last].marked == c.marked && node.Equal(&s.found[last].Node, &n) {
		s.found[last].end = c.end
		s.Fix("repeated", start)
		return
	}
	s.found = append(s.found, c)
}

// noteLoose records that a parameter with a value is outside of all candidates.
func (s *scanner) noteLoose(is bool) {
	s.loose = s.loose || is
	s.within = s.within || is && s.marked > 0
}

// stray refuses an unmatched closing bracket after an object: the object may extend to it.
func (s *scanner) stray() bool {
	if len(s.found) == 0 {
		return true
	}
	last := &s.found[len(s.found)-1]
	gap := s.Text[last.end:s.Pos]
	s.Use(len(gap))
	if strings.Trim(gap, " \t\r\n}])`") == "" && !strings.ContainsRune(",[(:=", rune(s.ByteAt(s.Back(last.start)))) {
		return true
	}
	return s.FailAt("ambiguous", s.Pos, "unexpected closing bracket: a quote or an opening bracket is missing before it")
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
