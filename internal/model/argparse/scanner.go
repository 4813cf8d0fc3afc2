package argparse

import (
	"slices"
	"strings"
)

// candidate is a part of a text that may be the call.
type candidate struct {
	node
	start, end int
	marked     bool // inside a fence or tag
}

// scanner finds candidates in a text, from left to right. It does not look inside a candidate.
type scanner struct {
	*parser
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

// finder finds the call in a text, and removes its envelopes.
type finder struct{ *Reading }

// documents reads texts that are one call as a whole.
type documents struct{ *parser }

// tagReader reads values between tags.
type tagReader struct{ *parser }

// callReader reads the arguments of a function call.
type callReader struct{ *parser }

// findCall returns the object with the arguments of the call in a text.
func findCall(r *Reading, text string) (node, bool) {
	f := &finder{r}
	n, ok := f.call(source{text: text}, 0)
	if !ok {
		return n, false
	}
	return f.argumentsOf(n, 0)
}

// call reads a text that contains one call, or none. level counts the strings around it.
func (r *finder) call(src source, level int) (node, bool) {
	if n, done, ok := r.json(src); done {
		return n, ok
	}
	d := documents{r.descend(src)}
	start := d.skipSpaces(0)
	end := len(strings.TrimRightFunc(src.text, invisible))
	if start >= end || src.text[start:end] == "None" {
		r.addRepair("empty", src.at(start))
		return node{kind: object, off: src.at(start)}, true
	}
	if n, done, ok := d.escapedObject(start, end); done {
		return n, ok
	}
	if n, done, ok := d.quotedWhole(start, end); done {
		return n, ok
	}
	s := &scanner{parser: d.parser, documents: d, tagReader: tagReader{d.parser}, callReader: callReader{d.parser}, finder: r, first: start}
	if !s.thoughts(start) {
		return node{}, false
	}
	if d.hasBracelessObject(d.skip(d.pos), end) {
		return d.bracelessObject(end)
	}
	if i, ok := d.linesAt(d.skip(d.pos)); ok {
		d.pos = i
		return d.lines()
	}
	if d.listOfOne(d.pos) {
		return d.oneInList()
	}
	if i, ok := d.linesAfterProse(d.pos); ok {
		d.fix("prose", d.pos)
		d.pos = i
		return d.lines()
	}
	if !s.run() {
		return node{}, false
	}
	n, ok := s.choose(level)
	d.unlike()
	return n, ok
}

func isSpaces(s string) bool { return strings.Trim(s, " \t\r\n") == "" }

// run scans the text. It returns false if the text is refused.
func (s *scanner) run() bool {
	for s.pos < len(s.text) {
		if !s.spend(0, s.pos) {
			return false
		}
		if s.quoteAt(s.pos) != nil && !s.within {
			name, ok := s.keyAt(s.pos)
			s.noteLoose(ok && s.inputName(name))
		}
		ok := true
		switch c := s.text[s.pos]; {
		case c == '`' && s.has(s.pos, "```"), c == '~' && s.has(s.pos, "~~~"):
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
			s.pos++
		}
		if !ok {
			return false
		}
	}
	return true
}

// isQuotedCall reports whether a fence or tag contains an object in quotes at pos.
func (s *scanner) isQuotedCall() bool {
	c := s.text[s.pos]
	if c != '"' && c != '\'' || s.marked == 0 || len(s.found) > 0 || s.byteAt(s.skipSpaces(s.pos+1)) != '{' {
		return false
	}
	before := s.byteAt(s.back(s.pos))
	return before == '>' || before == '`' || s.text[s.back(s.pos)+1:s.pos] != "" && strings.Contains(s.text[s.back(s.pos)+1:s.pos], "\n")
}

// quotedCall reads such an object. The end of the fence or tag must follow.
func (s *scanner) quotedCall() bool {
	start := s.pos
	n, ok := s.quotedText(textSchema(), s.quoteAt(start))
	if !ok {
		return false
	}
	if c := s.byteAt(s.skipSpaces(s.pos)); c != '`' && c != '<' && c != '~' {
		return s.failAt("ambiguous", start, "this object is inside quotes: it may be the text of another value")
	}
	s.add(n, start, "")
	return true
}

// noteLoose records that a parameter with a value is outside of all candidates.
func (s *scanner) noteLoose(is bool) {
	s.loose = s.loose || is
	s.within = s.within || is && s.marked > 0
}

// add adds a candidate. An equal candidate is a repetition.
func (s *scanner) add(n node, start int, kind string) {
	if kind != "" {
		s.fix(kind, start)
	}
	c := candidate{n, start, s.pos, s.marked > 0}
	if last := len(s.found) - 1; last >= 0 && s.found[last].marked == c.marked && equal(shape(&s.found[last].node), shape(&n)) {
		s.found[last].end = c.end
		s.fix("repeated", start)
		return
	}
	s.found = append(s.found, c)
}

// choose returns the only candidate that is left after removing repetitions.
func (s *scanner) choose(level int) (node, bool) {
	if len(s.found) == 0 {
		return node{}, s.nothingFound()
	}
	if s.fenced && s.sloppy {
		return node{}, s.truncated() // the fence, and perhaps a text with unescaped quotes
	}
	if s.loose && (s.within || !s.found[0].marked) {
		return node{}, s.failAt("ambiguous", s.found[0].start, "a parameter with a value is outside of the object: it may be part of it")
	}
	if last := s.found[len(s.found)-1].end; s.brokenQuotes(last) {
		return node{}, s.failAt("ambiguous", last, "an unmatched quote follows the object: its last text may extend to it")
	}
	if slices.ContainsFunc(s.found, func(c candidate) bool { return c.marked }) {
		s.found = slices.DeleteFunc(s.found, func(c candidate) bool { return !c.marked && !s.hasKnownName(&c.node) })
	}
	var first node
	for i := range s.found {
		c := &s.found[i]
		kept := len(s.repairs)
		n, ok := s.finder.argumentsOf(c.node, level)
		if !ok {
			return n, false
		}
		if i == 0 {
			first = n
			continue
		}
		s.repairs = s.repairs[:kept]
		if !equal(shape(&first), shape(&n)) {
			return n, s.failAt("several-calls", c.start, "the text contains %d different objects, and it is not clear which one is the call", len(s.found))
		}
		s.fix("repeated", c.start)
	}
	s.proseAround()
	return first, true
}

// hasKnownName reports whether an object has a key that a call can have.
func (s *scanner) hasKnownName(n *node) bool {
	if n.kind != object {
		return true
	}
	for i := range n.children {
		k := n.children[i].name
		if s.inputName(k) || isArgsWord(k) || isToolWord(k) || k == callsWord {
			return true
		}
	}
	return false
}

// proseAround reports the text around the candidates as a repair.
func (s *scanner) proseAround() {
	if len(s.found) == 0 {
		return
	}
	first, last := &s.found[0], &s.found[len(s.found)-1]
	if !isSpaces(s.text[:first.start]) && !first.marked {
		s.fix("prose", 0)
	} else if rest := strings.TrimRightFunc(s.text[last.end:], invisible); rest != "" && !last.marked {
		s.fix("prose", last.end)
	}
}

func (s *scanner) nothingFound() bool {
	if s.has(s.first, "...") {
		return s.failAt("ellipsis", s.first, "the text contains ... in place of omitted content; send the whole call")
	}
	return s.failAt("not-arguments", s.first, "the text contains no call: expected an object with the arguments")
}
