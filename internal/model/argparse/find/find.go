// Package find finds the call in what a language model wrote.
//
// The text may be the call as a whole: JSON, JSON in quotes or with escaped quotes, lines of names and values (documents).
// Otherwise a scanner walks over prose, fences, tags and function calls and collects the candidates. Equal candidates count
// as one, and different ones are refused. From the call, the envelopes are removed until the object with the arguments is
// left.
package find

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// Call returns the object with the arguments of the call in a text.
func Call(r *grammar.Reading, text string) (node.Node, bool) {
	f := &finder{r}
	n, ok := f.call(node.Source{Text: text}, 0)
	if !ok {
		return n, false
	}
	return f.argumentsOf(n, 0)
}

// call reads a text that contains one call, or none. level counts the strings around it.
func (r *finder) call(src node.Source, level int) (node.Node, bool) {
	if n, done, ok := r.JSON(src); done {
		return n, ok
	}
	d := documents{r.NewParser(src)}
	start := d.SkipSpaces(0)
	end := len(strings.TrimRightFunc(src.Text, token.Invisible))
	if start >= end || src.Text[start:end] == "None" {
		r.AddRepair("empty", src.At(start))
		return node.Node{Kind: node.Object, Off: src.At(start)}, true
	}
	if n, done, ok := d.escapedObject(start, end); done {
		return n, ok
	}
	if n, done, ok := d.quotedWhole(start, end); done {
		return n, ok
	}
	s := &scanner{Parser: d.Parser, documents: d, tagReader: tagReader(d), callReader: callReader(d), finder: r, first: start}
	if !s.thoughts(start) {
		return node.Node{}, false
	}
	if d.hasBracelessObject(d.Skip(d.Pos), end) {
		return d.bracelessObject(end)
	}
	if i, ok := d.linesAt(d.Skip(d.Pos)); ok {
		d.Pos = i
		return d.Lines()
	}
	if d.listOfOne(d.Pos) {
		return d.oneInList()
	}
	if i, ok := d.linesAfterProse(d.Pos); ok {
		d.Fix("prose", d.Pos)
		d.Pos = i
		return d.Lines()
	}
	if !s.run() {
		return node.Node{}, false
	}
	n, ok := s.choose(level)
	d.Unlike()
	return n, ok
}

// run scans the text. It returns false if the text is refused.
func (s *scanner) run() bool {
	for s.Pos < len(s.Text) {
		if !s.Spend(0, s.Pos) {
			return false
		}
		if s.QuoteAt(s.Pos) != nil && !s.within {
			s.noteLoose(s.InputAt(s.Pos))
		}
		ok := true
		switch c := s.Text[s.Pos]; {
		case c == '`' && s.Has(s.Pos, "```"), c == '~' && s.Has(s.Pos, "~~~"):
			ok = s.fence()
		case s.isQuotedCall():
			ok = s.quotedCall()
		case c == '<':
			ok = s.tag()
		case c == '{':
			ok = s.brace()
		case c == '[' && s.isPairs():
			ok = s.pairs(']')
		case c == '(' && s.isPairs():
			ok = s.pairs(')')
		case c == '[':
			ok = s.bracket()
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80:
			ok = s.word()
		default:
			if c == '}' || c == ']' {
				ok = s.stray()
			}
			s.Pos++
		}
		if !ok {
			return false
		}
	}
	return true
}

// isQuotedCall reports whether a fence or tag contains an object in quotes at pos.
func (s *scanner) isQuotedCall() bool {
	c := s.Text[s.Pos]
	if c != '"' && c != '\'' || s.marked == 0 || len(s.found) > 0 || s.ByteAt(s.SkipSpaces(s.Pos+1)) != '{' {
		return false
	}
	before := s.ByteAt(s.Back(s.Pos))
	return before == '>' || before == '`' || s.Text[s.Back(s.Pos)+1:s.Pos] != "" && strings.Contains(s.Text[s.Back(s.Pos)+1:s.Pos], "\n")
}

// quotedCall reads such an object. The end of the fence or tag must follow.
func (s *scanner) quotedCall() bool {
	start := s.Pos
	n, ok := s.QuotedText(schema.Text(), s.QuoteAt(start))
	if !ok {
		return false
	}
	if c := s.ByteAt(s.SkipSpaces(s.Pos)); c != '`' && c != '<' && c != '~' {
		return s.FailAt("ambiguous", start, "this object is inside quotes: it may be the text of another value")
	}
	s.add(n, start, "")
	return true
}

// choose returns the only candidate that is left after removing repetitions.
func (s *scanner) choose(level int) (node.Node, bool) {
	if len(s.found) == 0 {
		return node.Node{}, s.nothingFound()
	}
	if s.fenced && s.sloppy {
		return node.Node{}, s.Truncated() // the fence, and perhaps a text with unescaped quotes
	}
	if s.loose && (s.within || !s.found[0].marked) {
		return node.Node{}, s.FailAt("ambiguous", s.found[0].start, "a parameter with a value is outside of the object: it may be part of it")
	}
	if last := s.found[len(s.found)-1].end; s.brokenQuotes(last) {
		return node.Node{}, s.FailAt("ambiguous", last, "an unmatched quote follows the object: its last text may extend to it")
	}
	if slices.ContainsFunc(s.found, func(c candidate) bool { return c.marked }) {
		s.found = slices.DeleteFunc(s.found, func(c candidate) bool { return !c.marked && !s.hasKnownName(&c.Node) })
	}
	if s.RequiresSome() && slices.ContainsFunc(s.found, func(c candidate) bool { return !c.isEmpty() }) {
		s.found = slices.DeleteFunc(s.found, candidate.isEmpty)
	}
	var first node.Node
	for i := range s.found {
		c := &s.found[i]
		kept := len(s.Repairs)
		n, ok := s.finder.argumentsOf(c.Node, level)
		if !ok {
			return n, false
		}
		if i == 0 {
			first = n
			continue
		}
		s.Repairs = s.Repairs[:kept]
		if !node.Equal(&first, &n) {
			return n, s.FailAt("several-calls", c.start, "the text contains %d different objects, and it is not clear which one is the call", len(s.found))
		}
		s.Fix("repeated", c.start)
	}
	s.proseAround()
	return first, true
}

// hasKnownName reports whether an object has a key that a call can have.
func (s *scanner) hasKnownName(n *node.Node) bool {
	return n.Kind != node.Object || slices.ContainsFunc(n.Children, func(k node.Node) bool {
		return s.InputName(k.Name) || schema.IsArgsWord(k.Name) || schema.IsToolWord(k.Name) || k.Name == schema.CallsWord
	})
}

// proseAround reports the text around the candidates as a repair.
func (s *scanner) proseAround() {
	first, last := &s.found[0], &s.found[len(s.found)-1]
	if !node.IsSpaces(s.Text[:first.start]) && !first.marked {
		s.Fix("prose", 0)
	} else if rest := strings.TrimRightFunc(s.Text[last.end:], token.Invisible); rest != "" && !last.marked {
		s.Fix("prose", last.end)
	}
}

func (s *scanner) nothingFound() bool {
	if s.Has(s.first, "...") {
		return s.FailAt("ellipsis", s.first, "the text contains ... in place of omitted content; send the whole call")
	}
	return s.FailAt("not-arguments", s.first, "the text contains no call: expected an object with the arguments")
}
