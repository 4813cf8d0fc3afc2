package argparse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// inner finds the end of a text that contains unescaped quotes. The first of them is at end.
// The closing quote is the one before a declared name or the end of the open object. Texts
// with a second reading are refused:
//
//   - the text contains a name with a separator: a quote may be missing before it;
//   - it contains an odd number of quotes, apart from apostrophes and inch signs, or a quote
//     that should open a pair but looks like a closing one;
//   - a later quote could close it as well.
func (d *Ends) inner(s *Schema, q *quotes, body, end, size int) (int, int) {
	first := end
	if code, why := d.notInner(s, end+size); code != "" {
		d.failAt(code, first, "%s: %s", d.here(), why)
		return 0, 0
	}
	count, previous := 0, body
	for size > 0 && d.spend(end-previous+1, body) {
		switch d.after(end + size) {
		case lostName:
			if d.mayBeName(d.text[previous:end]) {
				return d.doubtful(first)
			}
		case doubt:
			return d.doubtful(first)
		case nextName:
			if count%2 != 0 {
				return d.doubtful(first)
			}
			return end, size
		case closes:
			if count%2 != 0 || d.later(q, end+size) {
				return d.doubtful(first)
			}
			return end, size
		}
		if !d.apostrophe(end, size) && !d.inch(end, size) && !(openTypographic(d.text[previous:end]) && d.closesPair(end, size)) {
			if count%2 == 0 && !d.opensPair(end, size) || count%2 == 1 && !d.closesPair(end, size) {
				return d.doubtful(first)
			}
			count++
		}
		previous = end + size
		end, size = d.nextClose(q, previous)
	}
	if d.bad == nil && !strings.ContainsAny(d.text[d.back(len(d.text)):], "}])>`") {
		d.truncated()
	}
	return d.doubtful(first)
}

// doubtful refuses a text whose end is not clear.
func (d *Ends) doubtful(i int) (int, int) {
	d.failAt("ambiguous", i, `%s: it is not clear where the text ends; write quotes inside it as \"`, d.here())
	return 0, 0
}

// notInner returns the error for text after a closing quote that rules out unescaped quotes.
func (d *Ends) notInner(s *Schema, i int) (code, why string) {
	k := d.skipSpaces(i)
	c := d.byteAt(k)
	closer := c == '}' || c == ']' || c == ')'
	switch {
	case c == ':' || c == '=':
		return "syntax", "unexpected " + string(c) + " after a text"
	case c == '+' || c == '%' || d.has(k, ".format") || d.has(k, ".join") || c == '.' && k == i && d.byteAt(k+1) >= 'a':
		return "code", "joining texts is code, which is not evaluated; write the whole text"
	case !s.free() && !s.allows("string"):
		if closer {
			return "syntax", "the bracket " + string(c) + " does not match the open bracket"
		}
		return "ambiguous", "it is not clear where the value ends"
	case closer && d.lastQuote < k:
		return "syntax", "the bracket " + string(c) + " does not match the open bracket"
	}
	return "", ""
}

// follow classifies what follows a quote inside or at the end of a text.
type follow int

const (
	nothing  follow = iota // the quote is part of the text
	closes                 // the end of the open object or array
	nextName               // a comma and a declared name
	lostName               // a separator: the text before it may be a name
	doubt                  // more than one of these
)

// after classifies the text after a quote at i.
func (d *Ends) after(i int) follow {
	f := d.top()
	if f.closer == '\n' {
		return d.afterInLine(i)
	}
	k := d.skipSpaces(i)
	switch c := d.byteAt(k); {
	case k >= len(d.text):
		return nothing
	case d.comment(k) > k:
		return doubt
	case c == f.closer:
		return d.closesWell(k)
	case d.isSeparator(k):
		return lostName
	case c == ',':
		return d.afterComma(d.skipSpaces(k + 1))
	}
	if name, ok := d.keyAt(k); ok && d.mayBeName(name) || d.twoTexts(k) {
		return doubt
	}
	if word := d.bareKey(k); word > k {
		next := d.skipSpaces(word)
		if c := d.byteAt(next); (c == '{' || c == '[' || d.quoteAt(next) != nil) && d.mayBeName(d.text[k:word]) {
			return doubt
		}
	}
	return nothing
}

// twoTexts reports whether a quote at k, after another one, may open a text of its own.
func (d *Ends) twoTexts(k int) bool {
	q := d.quoteAt(k)
	return q != nil && !d.continues(k+len(q.open))
}

// startsMember reports whether a name of the call is at k, with or without its separator.
func (d *Ends) startsMember(k int) bool {
	if name, ok := d.keyAt(k); ok {
		return d.mayBeName(name)
	}
	if q := d.quoteAt(k); q != nil {
		end, size := d.nextClose(q, k+len(q.open))
		return size > 0 && d.spend(end-k, k) && d.mayBeName(d.text[k+len(q.open):end])
	}
	word := d.bareKey(k)
	return word > k && d.mayBeName(d.text[k:word])
}

// afterComma classifies the text after a quote and a comma.
func (d *Ends) afterComma(k int) follow {
	if d.comment(k) > k {
		return doubt
	}
	if d.byteAt(k) == d.top().closer {
		return d.closesWell(k)
	}
	if d.top().list {
		return doubt
	}
	name, ok := d.keyAt(k)
	if !ok && d.startsMember(k) {
		return doubt
	}
	switch {
	case !ok:
		return nothing
	case d.declares(d.top().schema, name) || d.top().schema == d.root && (isArgsWord(name) || isToolWord(name)):
		return nextName
	}
	return doubt
}

// closesWell reports whether the closing brackets at k match the open ones, and the text can
// continue after them.
func (d *Ends) closesWell(k int) follow {
	for level := len(d.open) - 1; level >= 0; level-- {
		c := d.byteAt(k)
		if c != d.open[level].closer {
			if c == ',' || k >= len(d.text) {
				return closes
			}
			return doubt
		}
		k = d.skipSpaces(k + 1)
	}
	if d.lastQuote >= k && d.lastCloser >= k {
		return nothing
	}
	return closes
}

// later reports whether a quote after i could close the text as well.
func (d *Ends) later(q *quotes, i int) bool {
	for {
		end, size := d.nextClose(q, i)
		if !d.spend(end-i+1, i) {
			return true
		}
		if size == 0 {
			return false
		}
		switch d.after(end + size) {
		case lostName, nextName:
			return false
		case closes, doubt:
			return true
		}
		i = end + size
	}
}

// mayBeName reports whether a name inside a text may be one of the call: a declared parameter,
// or any name in an open object.
func (d *Nesting) mayBeName(name string) bool {
	for i := len(d.open) - 1; i >= 0; i-- {
		f := d.open[i]
		if f.list {
			continue
		}
		if f.schema != d.root || f.schema.open() {
			return true
		}
		if d.declares(f.schema, strings.TrimSpace(name)) || isArgsWord(name) || isToolWord(name) {
			return true
		}
	}
	return false
}

// opensPair reports whether the quote at i looks like the first of a pair.
func (d *View) opensPair(i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(d.text[:i])
	after, _ := utf8.DecodeRuneInString(d.text[i+size:])
	return !unicode.IsLetter(before) && !unicode.IsDigit(before) && !invisible(after) && !strings.ContainsRune(",;.:=}])", after)
}

// closesPair reports whether the quote at i looks like the second of a pair.
func (d *View) closesPair(i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(d.text[:i])
	after, _ := utf8.DecodeRuneInString(d.text[i+size:])
	return !invisible(before) && !strings.ContainsRune(",([{:=", before) && !unicode.IsLetter(after) && !unicode.IsDigit(after)
}

// inch reports whether the quote at i is an inch sign, as in 5" wide.
func (d *View) inch(i, size int) bool {
	after, _ := utf8.DecodeRuneInString(d.text[min(i+size+1, len(d.text)):])
	return i > 0 && d.text[i-1] >= '0' && d.text[i-1] <= '9' && d.byteAt(i+size) == ' ' && unicode.IsLetter(after)
}
