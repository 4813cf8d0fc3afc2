package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invisible reports whether a character is a space or has no width.
func Invisible(c rune) bool {
	switch c {
	case ' ', '\t', '\n', '\r', '\v', '\f', 0xfeff, 0x200b, 0x200c, 0x200d, 0x2060:
		return true
	}
	return c >= 0x80 && unicode.IsSpace(c)
}

// SkipSpaces returns the first position from i on that is not a space.
func (d *View) SkipSpaces(i int) int { return d.spacesEnd(i, false) }

// SkipLineSpaces is like skipSpaces, but stops at the end of the line.
func (d *View) SkipLineSpaces(i int) int { return d.spacesEnd(i, true) }

func (d *View) spacesEnd(i int, line bool) int {
	start := i
	for i < len(d.Text) {
		c, size := rune(d.Text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(d.Text[i:])
		}
		if !Invisible(c) || line && (c == '\n' || c == '\r') {
			break
		}
		i += size
	}
	d.Use(i - start)
	return i
}

// Comment returns the end of the comment at i, or i.
func (d *View) Comment(i int) int {
	switch {
	case d.Has(i, "/*"):
		if n := strings.Index(d.Text[i+2:], "*/"); n >= 0 {
			d.Use(n)
			return i + 2 + n + 2
		}
		d.Use(len(d.Text) - i)
		return len(d.Text)
	case d.Has(i, "//"), d.ByteAt(i) == '#':
		n := strings.IndexByte(d.Text[i:], '\n')
		if n < 0 {
			n = len(d.Text) - i
		}
		d.Use(n)
		return i + n
	}
	return i
}

// Skip returns the first position from i on that is neither a space nor in a comment.
func (d *View) Skip(i int) int {
	for {
		i = d.SkipSpaces(i)
		j := d.Comment(i)
		if j == i || d.Exhausted() {
			return i
		}
		i = j
	}
}

// EscapedSpace returns the end of escaped spaces from i on that are written between tokens, as
// in {\n"p": 1}. It returns i if there are none, or if what follows cannot be a token.
func (d *View) EscapedSpace(i int) int {
	end := i
	for d.ByteAt(end) == '\\' && (d.ByteAt(end+1) == 'n' || d.ByteAt(end+1) == 't' || d.ByteAt(end+1) == 'r') {
		end = d.SkipSpaces(end + 2)
	}
	if c := d.ByteAt(end); end == i || c != '\\' && c != '"' && c != '\'' && c != ',' && c != '{' && c != '[' && !d.IsCloser(end) && (c < '0' || c > '9') {
		return i
	}
	return end
}
