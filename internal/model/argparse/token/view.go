// Package token looks at the characters of a text: spaces, comments, quotes, names, separators.
//
// A View has no position of its own and knows no schema. Each method answers a question about one position and returns
// another position, a length or a name; nothing is read or refused. What a method visits is subtracted from the Budget.
package token

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
)

// View looks at the characters of a text, at any position.
type View struct {
	node.Source
	*Budget
}

// New returns a view of a text.
func New(src node.Source, b *Budget) View { return View{src, b} }

// ByteAt returns the byte at i, or 0 after the end.
func (d *View) ByteAt(i int) byte {
	if i < len(d.Text) {
		return d.Text[i]
	}
	return 0
}

// Has reports whether prefix is at i.
func (d *View) Has(i int, prefix string) bool {
	return i <= len(d.Text) && strings.HasPrefix(d.Text[i:], prefix)
}

// Dots reports whether dots at i replace omitted content.
func (d *View) Dots(i int) bool { return d.Has(i, "...") || d.Has(i, "…") }

// IsCloser reports whether a closing bracket is at i.
func (d *View) IsCloser(i int) bool {
	c := d.ByteAt(i)
	return c == '}' || c == ']' || c == ')'
}

// LineEnd reports whether a line ends at i.
func (d *View) LineEnd(i int) bool {
	return i >= len(d.Text) || d.Text[i] == '\n' || d.Text[i] == '\r'
}

// EndOfLine returns the end of the line of i.
func (d *View) EndOfLine(i int) int {
	for !d.LineEnd(i) {
		i++
	}
	return i
}

// Column returns the distance of i from the start of its line.
func (d *View) Column(i int) int {
	column := i - (strings.LastIndexByte(d.Text[:i], '\n') + 1)
	d.Use(column)
	return column
}

// Back returns the position of the last character before i that is not a space.
func (d *View) Back(i int) int {
	for i--; i > 0 && (d.Text[i] == ' ' || d.Text[i] == '\n' || d.Text[i] == '\t' || d.Text[i] == '\r'); i-- {
		d.Use(1)
	}
	return max(i, 0)
}

// IsWordByte reports whether c is an ASCII letter, a digit or an underscore.
func IsWordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// Budget is the number of characters that lookahead may still visit. All readers of one input share it. It keeps the cost
// linear in the length of the input, however searches are nested.
type Budget int

// NewBudget returns the budget for an input of this size.
func NewBudget(size int) Budget { return Budget(32*size + 4096) }

// Use subtracts n characters.
func (b *Budget) Use(n int) { *b -= Budget(n) }

// Exhausted reports whether nothing is left.
func (b *Budget) Exhausted() bool { return *b < 0 }

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

// SkipLineSpaces is like SkipSpaces, but stops at the end of the line.
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

// EscapedSpace returns the end of escaped spaces from i on that are written between tokens, as in {\n"p": 1}. It returns i
// if there are none, or if what follows cannot be a token.
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
