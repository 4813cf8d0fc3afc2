package grammar

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/lookahead"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// Lines reads names and values without brackets: p=10, d=100 on one line, or name: value on separate lines.
func (d *Parser) Lines() (node.Node, bool) {
	d.Fix("lines", d.Pos)
	return d.Members(d.Pos, lookahead.Frame{Closer: '\n', Schema: d.Root})
}

// lineValue reads the value after a separator, on the same line or below it.
func (d *Parser) lineValue(s *schema.Schema) (node.Node, bool) {
	switch {
	case d.LineEnd(d.Pos):
		return d.below(s)
	case d.ByteAt(d.Pos) == '|', d.ByteAt(d.Pos) == '>' && s.Allows("string"):
		return d.block(s)
	case d.ByteAt(d.Pos) == '~' && d.LineEnd(d.SkipLineSpaces(d.Pos+1)):
		d.Pos++
		return node.Node{Kind: node.Null, Off: d.At(d.Pos - 1)}, true
	}
	if c := d.ByteAt(d.Pos); (c == '&' || c == '*' || c == '!' || c == '-' && d.ByteAt(d.Pos+1) == ' ') && d.ByteAt(d.Pos+1) != '=' {
		return node.Node{}, d.FailAt("ambiguous", d.Pos, "%s: %q may be text or a sign of YAML; put the text in quotes", d.Here(), c)
	}
	n, ok := d.value(s)
	if ok && n.Kind != node.Bare && !d.LineContinues(d.Pos) {
		return n, d.FailAt("syntax", d.Pos, "%s: unexpected text after the value", d.Here())
	}
	return n, ok
}

// Dashes reads a list whose items are below its name, each after a dash.
func (d *Parser) Dashes(s *schema.Schema) (node.Node, bool) {
	n := node.Node{Kind: node.Array, Off: d.At(d.Pos)}
	indent := -1
	for {
		k := d.Skip(d.Pos)
		column := d.Column(k)
		if d.ByteAt(k) != '-' || d.ByteAt(k+1) != ' ' && !d.LineEnd(k+1) || indent >= 0 && column != indent {
			break
		}
		indent = column
		d.Pos = d.SkipLineSpaces(k + 1)
		v, ok := d.item(s.ItemSchema(), len(n.Children), column)
		if !ok {
			return n, false
		}
		n.Children = append(n.Children, v)
	}
	if len(n.Children) == 0 {
		return n, d.FailAt("syntax", d.Pos, "%s has no value", d.Here())
	}
	return n, d.Spend(0, d.Pos)
}

// item reads the value after a dash: the rest of the line, or an object on the lines below. dash is the column of the dash.
func (d *Parser) item(s *schema.Schema, i, dash int) (node.Node, bool) {
	d.EnterItem(i)
	defer d.Leave()
	if d.LineEnd(d.Pos) {
		k := d.Skip(d.Pos)
		if !d.IsKey(k) || d.Column(k) <= dash {
			return node.Node{}, d.FailAt("syntax", d.Pos, "%s has no value", d.Here())
		}
		d.Pos = k
	}
	if d.IsKey(d.Pos) {
		if !s.Allows("object") {
			return node.Node{}, d.FailAt("ambiguous", d.Pos, "%s: it is not clear whether this is text or a name with a value; put the text in quotes", d.Here())
		}
		return d.indented(s, d.Column(d.Pos))
	}
	if d.QuoteAt(d.Pos) == nil && !strings.ContainsRune("{[(", rune(d.Text[d.Pos])) {
		start, end := d.Pos, d.EndOfLine(d.Pos)
		text := strings.TrimRightFunc(d.Text[start:end], token.Invisible)
		if strings.Contains(text, " #") || strings.ContainsAny(text, "\"`{}[]") || lookahead.Ellipsis(text) {
			return node.Node{}, d.FailAt("ambiguous", start, "%s: it is not clear where the text ends; put it in quotes", d.Here())
		}
		d.Pos = end
		return node.Node{Kind: node.Bare, Off: d.At(start), Text: text}, true
	}
	n, ok := d.value(s)
	if k := d.SkipLineSpaces(d.Pos); ok && !d.LineEnd(k) {
		return n, d.FailAt("syntax", k, "%s: unexpected text after the value", d.Here())
	}
	return n, ok
}

// linesEnd reports whether the lines of a frame end before the line at pos: because its indentation is smaller, or at the
// ... that ends a YAML document.
func (d *Parser) linesEnd(indent int, more bool) (done, ok bool) {
	if d.Document && d.Has(d.Pos, "...") && d.Skip(d.Pos+3) >= len(d.Text) {
		d.Pos = len(d.Text)
		return true, true
	}
	if indent == 0 || !more {
		return false, true
	}
	switch column := d.Column(d.Pos); {
	case column < indent:
		return true, true
	case column > indent:
		return false, d.FailAt("ambiguous", d.Pos, "%s: expected one name and value on each line, with the same indentation", d.Here())
	}
	return false, true
}

// below reads the value below a name: a list or an indented object.
func (d *Parser) below(s *schema.Schema) (node.Node, bool) {
	k := d.Skip(d.Pos)
	if k >= len(d.Text) || d.ByteAt(k) == '-' || !s.Allows("object") || !d.IsKey(k) {
		return d.Dashes(s)
	}
	parent := d.Top().Indent
	if parent == 0 {
		line := d.Pos - d.Column(d.Pos)
		parent = d.Column(d.SkipLineSpaces(line))
	}
	indent := d.Column(k)
	if indent <= parent {
		return d.Dashes(s)
	}
	d.Pos = k
	n, ok := d.indented(s, indent)
	if ok && d.Pos < len(d.Text) && d.Column(d.Pos) > parent {
		return n, d.FailAt("ambiguous", d.Pos, "%s: the indentation of this line matches no line above", d.Here())
	}
	return n, ok
}

// indented reads the lines of an object, starting at pos.
func (d *Parser) indented(s *schema.Schema, indent int) (node.Node, bool) {
	return d.Members(d.Pos, lookahead.Frame{Closer: '\n', Schema: s, Indent: indent})
}
