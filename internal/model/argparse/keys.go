package argparse

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// key reads a name, with or without quotes.
func (d *parser) key(more bool) (string, bool) {
	i := d.pos
	if d.dots(i) {
		return "", d.failAt("ellipsis", i, "the object contains ... in place of omitted content; write every name and value")
	}
	if j := d.symbol(i); j > i {
		d.fix("bare-key", i)
		d.pos, i = j, j
	}
	if d.has(i, "**") || d.byteAt(i) == '*' {
		return "", d.failAt("code", i, "* and ** are code, which is not evaluated; write names and values")
	}
	if name, end, ok := d.looseKey(i); ok {
		d.fix("quotes", i)
		d.pos = end
		return name, true
	}
	if d.prefixAt(i) != 0 {
		if _, ok := d.keyAt(i + 1); ok {
			i++
			d.pos = i
		}
	}
	if q := d.quoteAt(i); q != nil {
		return d.quotedKey(q)
	}
	end := d.bareKey(i)
	if end == i {
		return "", d.noKey(i, more)
	}
	if d.quoteAt(end) != nil {
		return "", d.failAt("syntax", end, "unexpected quote inside a name")
	}
	if j := d.skipSpaces(end); !d.isSeparator(j) {
		return "", d.noSeparator(i, end, j, more)
	}
	d.pos = end
	if d.top().closer == '}' {
		d.fix("bare-key", i)
	}
	return d.text[i:end], true
}

// noKey refuses text in place of a name, with a reason.
func (d *parser) noKey(i int, more bool) bool {
	c, _ := utf8.DecodeRuneInString(d.text[i:])
	switch {
	case more && c >= '0' && c <= '9' && d.byteAt(d.back(i)) == ',' && (d.top().closer != ')' || d.text[i-1] == ','):
		return d.failAt("number", i, "expected a name after the comma, found %q: is it a decimal comma, a thousands separator, or a list without brackets?", c)
	case c == '}' || c == ']' || c == ')':
		return d.failAt("syntax", i, "unexpected %q: it does not match the open bracket", c)
	case c == '+' || c == '-' || c == '/' || c == '%' || c == '|' || c == '?' || c == '.':
		return d.failAt("code", i, "%q after a value is code, which is not evaluated", c)
	case d.top().closer == ')':
		return d.failAt("positional", i, "a value has no name; write name=value")
	}
	return d.failAt("syntax", i, "expected a name, found %q", c)
}

// back returns the position of the last character before i that is not a space.
func (d *View) back(i int) int {
	for i--; i > 0 && (d.text[i] == ' ' || d.text[i] == '\n' || d.text[i] == '\t' || d.text[i] == '\r'); i-- {
		d.Use(1)
	}
	return max(i, 0)
}

// noSeparator refuses a name without a separator, with a reason.
func (d *parser) noSeparator(i, end, j int, more bool) bool {
	word := d.text[i:end]
	switch c := d.byteAt(j); {
	case j >= len(d.text) && d.top().closer != '\n':
		return d.truncated()
	case c == '(' || c == '[' || c == '+' || c == '*' || c == '.':
		return d.failAt("code", i, "%s is followed by %q: this is code, which is not evaluated", quote(word), c)
	case word[0] >= '0' && word[0] <= '9':
		return d.noKey(i, more)
	case d.top().closer == ')':
		return d.failAt("positional", i, "the value %s has no name; write name=value", quote(word))
	case word == "for" || word == "if" || word == "else" || word == "or" || word == "and":
		return d.failAt("code", i, "%s is code, which is not evaluated", quote(word))
	case d.top().closer == '\n':
		return d.failAt("ambiguous", i, "%s is not a name with a value, and it is not clear which value it is part of", quote(word))
	}
	return d.failAt("syntax", j, "the name %s is not followed by a colon and a value", quote(word))
}

// bareKey returns the end of the unquoted name at i, or i.
func (d *View) bareKey(i int) int {
	end := i
	for end < len(d.text) && end-i < maxKey {
		c, size := utf8.DecodeRuneInString(d.text[end:])
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.Is(unicode.Mn, c) && c != '_' && c != '-' && c != '$' && c != '.' || c == utf8.RuneError {
			break
		}
		end += size
	}
	d.Use(end - i)
	return end
}

// maxKey limits the length of names in lookahead, in bytes.
const maxKey = 256

// isSeparator reports whether a separator between a name and its value is at i. The colon of a
// URL and the operators of code are not separators.
func (d *View) isSeparator(i int) bool { return d.separatorAt(i) > 0 }

// separatorAt returns the length of the separator at i, or 0. A doubled separator (::, := or
// ": :") requires a value that cannot be unquoted text.
func (d *View) separatorAt(i int) int {
	switch c := d.byteAt(i); c {
	case ':':
		next := d.byteAt(i + 1)
		if d.has(i, "://") {
			return 0
		}
		if next == ':' || next == '=' {
			if d.definite(d.skipLineSpaces(i + 2)) {
				return 2
			}
			return 0
		}
		if next == ' ' && (d.byteAt(i+2) == ':' || d.byteAt(i+2) == '=') && d.definite(d.skipLineSpaces(i+3)) {
			return 3
		}
		return 1
	case '=':
		switch d.byteAt(i + 1) {
		case '=', '~':
			return 0
		case '>':
			return 2
		}
		return 1
	case 0xef: // the fullwidth colon of a Chinese keyboard
		if d.has(i, "\uff1a") && d.definite(d.skipLineSpaces(i+3)) {
			return 3
		}
	}
	return 0
}

// definite reports whether a value that cannot be unquoted text starts at i: a quote, a
// bracket, a digit or a literal.
func (d *View) definite(i int) bool {
	switch c := d.byteAt(i); {
	case c == '{' || c == '[' || c >= '0' && c <= '9' || c == '-' && digits(d.text[i+1:]) > 0:
		return true
	case d.quoteAt(i) != nil:
		return true
	}
	word := d.text[i:d.bareKey(i)]
	return slices.Contains(literals, word)
}

var literals = []string{"true", "false", "null", "True", "False", "None"}

func (d *parser) separator() bool {
	if !d.space() {
		return false
	}
	size := d.separatorAt(d.pos)
	switch {
	case d.pos >= len(d.text):
		return d.truncated()
	case size == 0 && d.definite(d.pos):
		d.fix("missing-colon", d.pos)
	case size == 0:
		return d.failAt("syntax", d.pos, "the name is not followed by a colon and a value")
	case d.text[d.pos] == '=' && d.top().closer != ')' || d.text[d.pos] != '=' && size > 1:
		d.fix("separator", d.pos)
	}
	d.pos += size
	return true
}
