package argparse

import (
	"unicode"
	"unicode/utf8"
)

// key reads a name, in quotes or bare.
func (d *descent) key(more bool) (string, bool) {
	i := d.pos
	if d.has(i, "...") || d.has(i, "…") {
		return "", d.fault("ellipsis", i, "the object contains ... in place of omitted content; write every name and value")
	}
	if d.has(i, "**") || d.byteAt(i) == '*' {
		return "", d.fault("code", i, "* and ** are code, which is not evaluated; write names and values")
	}
	if q := d.quoteAt(i); q != nil {
		return d.quotedKey(q)
	}
	end := d.bareKey(i)
	if end == i {
		return "", d.noKey(i, more)
	}
	if d.quoteAt(end) != nil {
		return "", d.fault("syntax", end, "unexpected quote inside a name")
	}
	if j := d.blanks(end); !d.isSeparator(j) {
		return "", d.noSeparator(i, end, j, more)
	}
	d.pos = end
	if d.top().closer == '}' {
		d.fix("bare-key", i)
	}
	return d.text[i:end], true
}

// noKey refuses a text for what stands in the place of a name.
func (d *descent) noKey(i int, more bool) bool {
	c, _ := utf8.DecodeRuneInString(d.text[i:])
	switch {
	case more && c >= '0' && c <= '9' && d.byteAt(d.back(i)) == ',' && (d.top().closer != ')' || d.text[i-1] == ','):
		return d.fault("number", i, "expected a name after the comma, found %q: is it a decimal comma, a thousands separator, or a list without brackets?", c)
	case c == '}' || c == ']' || c == ')':
		return d.fault("syntax", i, "unexpected %q: it does not match the open bracket", c)
	case c == '+' || c == '-' || c == '/' || c == '%' || c == '|' || c == '?' || c == '.':
		return d.fault("code", i, "%q after a value is code, which is not evaluated", c)
	case d.top().closer == ')':
		return d.fault("positional", i, "a value has no name; write name=value")
	}
	return d.fault("syntax", i, "expected a name, found %q", c)
}

// back is the place of the last character before i that is no blank.
func (d *descent) back(i int) int {
	for i--; i > 0 && (d.text[i] == ' ' || d.text[i] == '\n' || d.text[i] == '\t' || d.text[i] == '\r'); i-- {
		d.budget--
	}
	return max(i, 0)
}

func (d *descent) noSeparator(i, end, j int, more bool) bool {
	word := d.text[i:end]
	switch c := d.byteAt(j); {
	case j >= len(d.text) && d.top().closer != '\n':
		return d.cutOff()
	case c == '(' || c == '[' || c == '+' || c == '*' || c == '.':
		return d.fault("code", i, "%s is followed by %q: this is code, which is not evaluated", quote(word), c)
	case word[0] >= '0' && word[0] <= '9':
		return d.noKey(i, more)
	case d.top().closer == ')':
		return d.fault("positional", i, "the value %s has no name; write name=value", quote(word))
	case word == "for" || word == "if" || word == "else" || word == "or" || word == "and":
		return d.fault("code", i, "%s is code, which is not evaluated", quote(word))
	case d.top().closer == '\n':
		return d.fault("ambiguous", i, "%s is not a name with a value, and it is not clear which value it is part of", quote(word))
	}
	return d.fault("syntax", j, "the name %s is not followed by a colon and a value", quote(word))
}

// bareKey is the end of the name without quotes that begins at i; i for none.
func (d *descent) bareKey(i int) int {
	end := i
	for end < len(d.text) && end-i < maxKey {
		c, size := utf8.DecodeRuneInString(d.text[end:])
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.Is(unicode.Mn, c) && c != '_' && c != '-' && c != '$' && c != '.' || c == utf8.RuneError {
			break
		}
		end += size
	}
	d.budget -= end - i
	return end
}

// maxKey bounds names that are looked for ahead, in bytes.
const maxKey = 256

// isSeparator tells whether a sign between name and value stands at i. That of an address
// or of code is none.
func (d *descent) isSeparator(i int) bool {
	switch d.byteAt(i) {
	case ':':
		return d.byteAt(i+1) != ':' && d.byteAt(i+1) != '=' && !d.has(i, "://")
	case '=':
		return d.byteAt(i+1) != '=' && d.byteAt(i+1) != '~'
	}
	return false
}

func (d *descent) separator() bool {
	if !d.space() {
		return false
	}
	if !d.isSeparator(d.pos) {
		if d.pos >= len(d.text) {
			return d.cutOff()
		}
		return d.fault("syntax", d.pos, "the name is not followed by a colon and a value")
	}
	if d.text[d.pos] == '=' {
		if d.top().closer != ')' {
			d.fix("separator", d.pos)
		}
		if d.byteAt(d.pos+1) == '>' {
			d.pos++
		}
	}
	d.pos++
	return true
}
