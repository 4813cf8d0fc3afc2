package repair

import (
	"slices"
	"strings"
)

// candidate is a part of a text that may be the call.
type candidate struct {
	node
	start, end int
	marked     bool // a fence or a tag says that this is it
}

// scan looks through a text for candidates, from left to right. What is inside a candidate
// is never looked at.
type scan struct {
	*descent
	found  []candidate
	marked int // how many fences and tags are open
	thinks bool
}

// call reads a text with a call in it, or none. level counts the strings around it.
func (r *reading) call(src source, level int) (node, bool) {
	if n, done, ok := r.json(src); done {
		return n, ok
	}
	d := r.descend(src)
	start := d.blanks(0)
	end := len(strings.TrimRightFunc(src.text, invisible))
	if start >= end || src.text[start:end] == "None" {
		r.mend("empty", src.at(start))
		return node{kind: object, off: src.at(start)}, true
	}
	if start > 0 && !isSpaces(src.text[:start]) {
		r.mend("invisible", src.at(0))
	}
	if n, done, ok := d.quotedWhole(start, end); done {
		return n, ok
	}
	s := &scan{descent: d}
	if !s.thoughts(start) {
		return node{}, false
	}
	if name, ok := d.keyAt(d.pos); ok && d.inputName(name) {
		return d.lines()
	}
	if !s.run() {
		return node{}, false
	}
	return s.choose(level)
}

func isSpaces(s string) bool { return strings.Trim(s, " \t\r\n") == "" }

// inputName tells whether a name at the beginning of a text makes it lines of names and
// values.
func (d *descent) inputName(name string) bool {
	p, _ := d.property(d.root, name)
	return p >= 0
}

// quotedWhole reads a text that is one string in quotes which JSON does not know, or that
// holds quotes nobody marked: '{"p": 10}'.
func (d *descent) quotedWhole(start, end int) (n node, done, ok bool) {
	q := d.quoteAt(start)
	if q == nil || d.has(start, "```") || d.has(start, "'''") || d.has(start, `"""`) {
		return n, false, false
	}
	body := start + len(q.open)
	first := d.blanks(body)
	if c := d.byteAt(first); c != '{' && c != '[' && c != '\\' && c != '"' {
		return n, false, false
	}
	size := len(q.shut)
	if end-size < body || d.shuts(q, end-size) == 0 || d.text[end-size-1] == '\\' {
		return n, true, d.cutOff()
	}
	raw := d.text[body : end-size]
	n = node{kind: quoted, off: d.at(start), text: raw, exact: len(q.open) == 1}
	d.fix("quotes", start)
	if !strings.Contains(raw, `\`) {
		return n, true, true
	}
	return d.escapedWhole(n, q, body, end-size)
}

// escapedWhole decides whether backslashes in a quoted text are its own or those of what
// stands in it.
func (d *descent) escapedWhole(n node, q *quotes, body, end int) (node, bool, bool) {
	asIs, _, code, plain := readJSON(source{text: n.text}, 0)
	text, ok := d.unescape(q, body, end)
	if code != "" || !ok {
		return n, true, ok && d.fault("ambiguous", body, "the text in quotes cannot be read")
	}
	inside, rest, _, decoded := readJSON(source{text: text}, 0)
	decoded = decoded && isSpaces(text[rest:])
	if plain && decoded && !equal(looks(&asIs), looks(&inside)) || !plain && !decoded {
		return n, true, d.fault("ambiguous", body, "it is not clear what the backslashes in the quoted text mean")
	}
	if decoded {
		n.text, n.exact = text, false
	}
	return n, true, true
}

// looks is what a value looks like, to be held against another.
func looks(n *node) any {
	switch n.kind {
	case quoted:
		return n.text
	case array:
		list := make([]any, len(n.kids))
		for i := range n.kids {
			list[i] = looks(&n.kids[i])
		}
		return list
	case object:
		m := make(map[string]any, len(n.kids))
		for i := range n.kids {
			m[n.kids[i].name] = looks(&n.kids[i])
		}
		if len(m) < len(n.kids) {
			return n // names given twice: like nothing else
		}
		return m
	}
	lit := n.literal()
	return [2]string{n.text, string('0' + rune(lit.kind))}
}

// run goes through the text. It is false where the text is refused.
func (s *scan) run() bool {
	for s.pos < len(s.text) {
		if !s.spend(0, s.pos) {
			return false
		}
		ok := true
		switch c := s.text[s.pos]; {
		case c == '`' && s.has(s.pos, "```"), c == '~' && s.has(s.pos, "~~~"):
			ok = s.fence()
		case c == '<':
			ok = s.tag()
		case c == '{':
			ok = s.brace()
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

// stray refuses a closing bracket behind a candidate: perhaps that went on to it.
func (s *scan) stray() bool {
	if len(s.found) == 0 {
		return true
	}
	last := &s.found[len(s.found)-1]
	gap := s.text[last.end:s.pos]
	s.budget -= len(gap)
	if strings.Trim(gap, " \t\r\n}])`") == "" && !strings.ContainsRune(",[(:=", rune(s.byteAt(s.back(last.start)))) {
		return true
	}
	return s.fault("ambiguous", s.pos, "a bracket closes here that belongs to nothing: a quote or a bracket is missing before it")
}

// add keeps a candidate.
func (s *scan) add(n node, start int, kind string) {
	if kind != "" {
		s.fix(kind, start)
	}
	s.found = append(s.found, candidate{n, start, s.pos, s.marked > 0})
}

// brace reads an object that stands in a text. Braces around a word or two of prose are
// none.
func (s *scan) brace() bool {
	start := s.pos
	if end := s.placeholder(start); end > 0 {
		s.pos = end
		return true
	}
	if !s.unnamed(start) {
		return false
	}
	n, ok := s.exactOr(func() (node, bool) { return s.object(s.root, '}') })
	if !ok {
		return false
	}
	s.add(n, start, "")
	return s.goesOnLike(start)
}

// unnamed refuses a value that a declared name stands before: what was around them is lost.
func (s *scan) unnamed(start int) bool {
	i := s.back(start)
	if c := s.byteAt(i); c != ':' && c != '=' || i == start {
		return true
	}
	text := strings.TrimRight(s.text[max(0, i-maxKey):i], " \t\r\n\"'`*")
	word := text[strings.LastIndexAny(text, " \t\r\n\"'`,;{}[]()*:=")+1:]
	if word == "" || !s.inputName(word) {
		return true
	}
	return s.fault("ambiguous", start, "the name %s stands before the object: it is not clear whether it belongs to it", quote(word))
}

// exactOr reads JSON at pos, or else what the tolerant grammar makes of it.
func (s *scan) exactOr(tolerant func() (node, bool)) (node, bool) {
	n, end, code, ok := readJSON(s.source, s.pos)
	if code == "too-deep" {
		return n, s.fault(code, end, "objects and arrays stand in one another more than %d levels deep", maxDepth)
	}
	if ok {
		s.pos = end
		return n, true
	}
	return tolerant()
}

// goesOnLike refuses what follows a candidate and looks like more of it.
func (s *scan) goesOnLike(start int) bool {
	k := s.blanks(s.pos)
	if s.byteAt(k) == ',' {
		k = s.blanks(k + 1)
	}
	if name, ok := s.keyAt(k); ok && s.inputName(name) {
		return s.fault("ambiguous", k, "the name %s stands behind the object: it may belong into it", quote(name))
	}
	return true
}

// placeholder is the end of braces around prose, as in {name} or {{x}}, 0 for none.
func (s *scan) placeholder(i int) int {
	if i == s.first() {
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
	s.budget -= end - i
	if end == words || strings.TrimSpace(s.text[words:end]) == "" || !s.has(end, "}}}"[:braces]) || strings.Contains(s.text[words:end], "...") || strings.Contains(s.text[words:end], "…") {
		return 0
	}
	return end + braces
}

// first is the place of the first character of the text.
func (s *scan) first() int { return s.blanks(0) }

// bracket reads an array with one call in it; other brackets are prose.
func (s *scan) bracket() bool {
	start := s.pos
	if k := s.blanks(start + 1); s.byteAt(k) != '{' {
		s.pos++
		return true
	}
	if !s.unnamed(start) {
		return false
	}
	n, ok := s.exactOr(func() (node, bool) { return s.list(&Schema{Types: arrayType, Items: s.root}, ']') })
	if ok {
		s.add(n, start, "")
	}
	return ok
}

// choose takes the one candidate that is left, when equal ones are one.
func (s *scan) choose(level int) (node, bool) {
	if len(s.found) == 0 {
		return node{}, s.nothingFound()
	}
	if slices.ContainsFunc(s.found, func(c candidate) bool { return c.marked }) {
		s.found = slices.DeleteFunc(s.found, func(c candidate) bool { return !c.marked && !s.fitsNames(&c.node) })
	}
	var first node
	for i := range s.found {
		c := &s.found[i]
		told := len(s.repairs)
		n, ok := s.argumentsOf(c.node, level)
		if !ok {
			return n, false
		}
		if i == 0 {
			first = n
			continue
		}
		s.repairs = s.repairs[:told]
		if !equal(looks(&first), looks(&n)) {
			return n, s.fault("several-calls", c.start, "there are %d different objects in the text; which one is meant is not clear", len(s.found))
		}
		if i == 1 {
			s.fix("repeated", c.start)
		}
	}
	s.proseAround()
	return first, true
}

// fitsNames tells whether an object has a name that the call may have.
func (s *scan) fitsNames(n *node) bool {
	if n.kind != object {
		return true
	}
	for i := range n.kids {
		k := n.kids[i].name
		if s.inputName(k) || isArgsWord(k) || isToolWord(k) || k == callsWord {
			return true
		}
	}
	return false
}

func (s *scan) proseAround() {
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

func (s *scan) nothingFound() bool {
	if s.has(s.first(), "...") {
		return s.fault("ellipsis", s.first(), "... stands for what was left out; send the whole call")
	}
	return s.fault("not-arguments", s.first(), "this is no call: no object of arguments was found in it")
}
