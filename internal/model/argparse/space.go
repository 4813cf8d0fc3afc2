package argparse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// invisible reports whether a character is a space or has no width.
func invisible(c rune) bool {
	switch c {
	case ' ', '\t', '\n', '\r', '\v', '\f', 0xfeff, 0x200b, 0x200c, 0x200d, 0x2060:
		return true
	}
	return c >= 0x80 && unicode.IsSpace(c)
}

// skipSpaces returns the first position from i on that is not a space.
func (d *View) skipSpaces(i int) int { return d.spacesEnd(i, false) }

// skipLineSpaces is like skipSpaces, but stops at the end of the line.
func (d *View) skipLineSpaces(i int) int { return d.spacesEnd(i, true) }

func (d *View) spacesEnd(i int, line bool) int {
	start := i
	for i < len(d.text) {
		c, size := rune(d.text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(d.text[i:])
		}
		if !invisible(c) || line && (c == '\n' || c == '\r') {
			break
		}
		i += size
	}
	d.Use(i - start)
	return i
}

// comment returns the end of the comment at i, or i.
func (d *View) comment(i int) int {
	switch {
	case d.has(i, "/*"):
		if n := strings.Index(d.text[i+2:], "*/"); n >= 0 {
			d.Use(n)
			return i + 2 + n + 2
		}
		d.Use(len(d.text) - i)
		return len(d.text)
	case d.has(i, "//"), d.byteAt(i) == '#':
		n := strings.IndexByte(d.text[i:], '\n')
		if n < 0 {
			n = len(d.text) - i
		}
		d.Use(n)
		return i + n
	}
	return i
}

// skip returns the first position from i on that is neither a space nor in a comment.
func (d *View) skip(i int) int {
	for {
		i = d.skipSpaces(i)
		j := d.comment(i)
		if j == i || d.Exhausted() {
			return i
		}
		i = j
	}
}

// space skips spaces and comments between tokens. It refuses a comment with an unpaired quote,
// which may be the rest of a text.
func (d *parser) space() bool {
	for {
		d.pos = d.skipSpaces(d.pos)
		if j := d.escapedSpace(d.pos); j > d.pos {
			d.fix("escape", d.pos)
			d.pos = j
			continue
		}
		j := d.comment(d.pos)
		if j == d.pos {
			return true
		}
		if d.oddQuotes(d.pos, j) {
			return d.failAt("ambiguous", d.pos, "it is not clear whether this is a comment or the rest of a text")
		}
		d.fix("comment", d.pos)
		d.pos = j
	}
}

// unlike records a repair if only spaces differ from JSON.
func (d *parser) unlike() {
	if !d.repaired {
		d.fix("blank", 0)
	}
}

// escapedSpace returns the end of escaped spaces from i on that are written between tokens, as
// in {\n"p": 1}. It returns i if there are none, or if what follows cannot be a token.
func (d *View) escapedSpace(i int) int {
	end := i
	for d.byteAt(end) == '\\' && (d.byteAt(end+1) == 'n' || d.byteAt(end+1) == 't' || d.byteAt(end+1) == 'r') {
		end = d.skipSpaces(end + 2)
	}
	if c := d.byteAt(end); end == i || c != '\\' && c != '"' && c != '\'' && c != ',' && c != '{' && c != '[' && !d.isCloser(end) && (c < '0' || c > '9') {
		return i
	}
	return end
}

// oddQuotes reports whether a part of the text has unpaired quotes.
func (d *View) oddQuotes(i, end int) bool {
	double, single := 0, 0
	for ; i < end; i++ {
		switch {
		case d.text[i] == '"':
			double++
		case d.text[i] == '\'' && !d.apostrophe(i, 1):
			single++
		}
	}
	return double%2+single%2 > 0
}

// valueSpace skips spaces between a separator and its value. A comment there may also be text.
func (d *parser) valueSpace(s *Schema) bool {
	if d.top().closer == '\n' {
		d.pos = d.skipLineSpaces(d.pos)
	} else {
		d.pos = d.skipSpaces(d.pos)
	}
	if j := d.escapedSpace(d.pos); j > d.pos && (!s.allows("string") || d.quoteAt(j) != nil) {
		d.fix("escape", d.pos)
		d.pos = j
	}
	if d.comment(d.pos) == d.pos {
		return d.spend(0, d.pos)
	}
	if j := d.comment(d.pos); d.has(d.pos, "/*") && d.has(j-2, "*/") && d.quoteAt(d.skipSpaces(j)) != nil && d.top().closer != '\n' {
		return d.space()
	}
	if s.allows("string") {
		return d.failAt("ambiguous", d.pos, "%s may be text or a comment; put the text in quotes", d.here())
	}
	if d.top().closer == '\n' {
		return d.failAt("syntax", d.pos, "%s has no value", d.here())
	}
	return d.space()
}
