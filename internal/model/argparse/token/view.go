// Package token looks at the characters of a text: spaces, comments, quotes, names, separators.
//
// A View has no position of its own and knows no schema. Each method answers a question about one
// position and returns another position, a length or a name; nothing is read or refused. What a
// method visits is subtracted from the Budget.
package token

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
)

// View looks at the characters of a text, at any position.
type View struct {
	node.Source
	*Budget
}

func New(src node.Source, b *Budget) View { return View{src, b} }

// ByteAt returns the byte at i, or 0 after the end.
func (d *View) ByteAt(i int) byte {
	if i < len(d.Text) {
		return d.Text[i]
	}
	return 0
}

func (d *View) Has(i int, prefix string) bool {
	return i <= len(d.Text) && strings.HasPrefix(d.Text[i:], prefix)
}

// Dots reports whether dots at i replace omitted content.
func (d *View) Dots(i int) bool { return d.Has(i, "...") || d.Has(i, "…") }

func (d *View) IsCloser(i int) bool {
	c := d.ByteAt(i)
	return c == '}' || c == ']' || c == ')'
}

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

func IsWordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// Budget is the number of characters that lookahead may still visit. All readers of one input
// share it. It keeps the cost linear in the length of the input, however searches are nested.
type Budget int

// NewBudget returns the budget for an input of this size.
func NewBudget(size int) Budget { return Budget(32*size + 4096) }

// Use subtracts n characters.
func (b *Budget) Use(n int) { *b -= Budget(n) }

// Exhausted reports whether nothing is left.
func (b *Budget) Exhausted() bool { return *b < 0 }
