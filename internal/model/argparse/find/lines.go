package find

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/lookahead"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// linesAt reports whether lines of names and values start at i, and returns the position of
// the first one. They may follow a --- line or the name of the tool, and may be inside an
// envelope.
func (d *documents) linesAt(i int) (int, bool) {
	if d.Has(i, "---") && d.LineEnd(d.SkipLineSpaces(i+3)) {
		d.Document = true
		i = d.Skip(i + 3)
	}
	if word := d.BareKey(i); d.LineEnd(word) && d.IsTool(d.Text[i:word]) {
		below := d.Skip(word)
		if name, ok := d.KeyAt(below); ok && d.InputName(name) && d.QuoteAt(below) == nil {
			return below, true // after the name of the tool
		}
	}
	name, ok := d.KeyAt(i)
	if !ok {
		return i, false
	}
	return i, d.InputName(name) || d.QuoteAt(i) == nil && d.linesEnvelope(i, name)
}

// linesAfterProse returns the position of lines of names and values after a sentence that ends
// with a colon.
func (d *documents) linesAfterProse(i int) (int, bool) {
	colon := strings.Index(d.Text[i:], ":\n")
	if colon < 0 || strings.ContainsAny(d.Text[i:i+colon], "{}[]()<>=`\n\"") {
		return i, false
	}
	d.Use(colon)
	below := d.SkipSpaces(i + colon + 1)
	name, ok := d.KeyAt(below)
	return below, ok && d.Column(below) == 0 && d.InputName(name) && d.QuoteAt(below) == nil && d.ByteAt(d.BareKey(below)) == ':'
}

// listOfOne reports whether the text starts with a dash and a declared name: a list with one
// object.
func (d *documents) listOfOne(i int) bool {
	if !d.Has(i, "- ") {
		return false
	}
	name, ok := d.KeyAt(d.SkipLineSpaces(i + 1))
	return ok && d.InputName(name)
}

// oneInList reads such a list. It must be the whole text.
func (d *documents) oneInList() (node.Node, bool) {
	d.Fix("lines", d.Pos)
	if !d.Push(lookahead.Frame{Closer: '\n', Schema: d.Root, List: true}) {
		return node.Node{}, false
	}
	defer d.Pop()
	n, ok := d.Dashes(schema.ArrayOf(d.Root))
	if k := d.Skip(d.Pos); ok && k < len(d.Text) {
		return n, d.FailAt("syntax", k, "unexpected text after the list")
	}
	return n, ok
}

// linesEnvelope reports whether the name at i starts an envelope: the tool or a key for
// arguments with indented parameters below, or a key for the tool followed by such a key.
func (d *documents) linesEnvelope(i int, name string) bool {
	after := d.SkipSpaces(d.BareKey(i))
	value := d.SkipLineSpaces(after + 1)
	end := d.EndOfLine(value)
	d.Use(end - i)
	below := d.SkipSpaces(end)
	next, ok := d.KeyAt(below)
	switch {
	case !ok || d.ByteAt(after) != ':' || d.QuoteAt(below) != nil:
		return false
	case schema.IsArgsWord(name), d.IsTool(name):
		return value == end && d.InputName(next) && d.Column(below) > d.Column(i)
	case schema.IsToolWord(name) && schema.IsArgsWord(next) && value < end:
		return d.linesEnvelope(below, next)
	}
	return false
}
