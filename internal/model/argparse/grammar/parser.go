// Package grammar reads values from left to right without backtracking, in a superset of JSON.
//
// A Parser is a position in a text, and the objects and arrays that are open there. It consumes names, separators, values
// in quotes and without quotes, and lines as in YAML, and records each deviation from JSON as a repair. Package lookahead
// tells it where they end. A Reading is what all parsers of one input share.
package grammar

import (
	"github.com/flowrun/flowrun/internal/model/argparse/lookahead"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// value reads the value at pos.
func (d *Parser) value(s *schema.Schema) (node.Node, bool) {
	if d.Pos >= len(d.Text) {
		return node.Node{}, d.Truncated()
	}
	switch c := d.Text[d.Pos]; c {
	case '{':
		return d.Object(s)
	case '[':
		return d.List(s, ']')
	case '(':
		if !s.Free() && !s.Allows("array") {
			return d.inParentheses(s)
		}
		return d.List(s, ')')
	}
	if q := d.DoubledQuotes(d.Pos); q != nil {
		return d.QuotedText(s, q)
	}
	if q := d.QuoteAt(d.Pos); q != nil {
		return d.QuotedText(s, q)
	}
	if n, done, ok := d.prefixed(s); done {
		return n, ok
	}
	return d.bareValue(s)
}

// inParentheses reads a value in parentheses where no array is declared.
func (d *Parser) inParentheses(s *schema.Schema) (node.Node, bool) {
	d.Fix("bracket", d.Pos)
	d.Pos++
	if !d.Push(lookahead.Frame{Closer: ')', Schema: s, List: true}) {
		return node.Node{}, false
	}
	defer d.Pop()
	if !d.Space() {
		return node.Node{}, false
	}
	n, ok := d.value(s)
	if !ok || !d.Space() {
		return n, false
	}
	if d.ByteAt(d.Pos) != ')' {
		return n, d.FailAt("code", d.Pos, "%s: expected one value in the parentheses; write it without them", d.Here())
	}
	d.Pos++
	return n, true
}

// Object reads the members of an object, starting at its opening bracket.
func (d *Parser) Object(s *schema.Schema) (node.Node, bool) {
	start := d.Pos
	d.Pos++
	return d.Members(start, lookahead.Frame{Closer: '}', Schema: s})
}

// Members reads the members of an object that starts at start, up to the closer of its frame.
func (d *Parser) Members(start int, f lookahead.Frame) (node.Node, bool) {
	n := node.Node{Kind: node.Object, Off: d.At(start)}
	if !d.Push(f) {
		return n, false
	}
	defer d.Pop()
	first := len(d.shelf.Nodes)
	ok := d.readMembers(first)
	n.Children = d.shelf.Take(first)
	return n, ok
}

func (d *Parser) readMembers(first int) bool {
	f := *d.Top()
	comma := true // before the next member
	for {
		if !d.Space() {
			return false
		}
		if d.Pos >= len(d.Text) {
			return f.Closer == '\n' || d.Truncated()
		}
		if f.Closer == '\n' {
			if done, ok := d.linesEnd(f.Indent, len(d.shelf.Nodes) > first); done || !ok {
				return ok
			}
		}
		switch c := d.Text[d.Pos]; {
		case c == f.Closer:
			if comma && len(d.shelf.Nodes) > first {
				d.Fix("comma", d.Pos)
			}
			d.Pos++
			return true
		case c == ']' && d.doubledBracket(first):
			d.Fix("bracket", d.Pos)
			d.Pos++
			continue
		case d.CommaAt(d.Pos) > 0:
			if comma || c != ',' {
				d.Fix("comma", d.Pos)
			}
			comma = true
			d.Pos += d.CommaAt(d.Pos)
			continue
		}
		if len(d.shelf.Nodes) > first && !comma && f.Closer != '\n' {
			d.Fix("missing-comma", d.Pos)
		}
		k, ok := d.member(f.Schema, len(d.shelf.Nodes) > first)
		if !ok {
			return false
		}
		d.shelf.Nodes = append(d.shelf.Nodes, k)
		comma = false
	}
}

// doubledBracket reports whether the bracket at pos is a second closing bracket of the array before it. The schema must not
// allow nested arrays.
func (d *Parser) doubledBracket(first int) bool {
	nodes := d.shelf.Nodes
	if len(nodes) == first || nodes[len(nodes)-1].Kind != node.Array || d.Text[d.Back(d.Pos)] != ']' {
		return false
	}
	s := d.Under(d.Top().Schema, nodes[len(nodes)-1].Name)
	return !s.ItemSchema().Free() && !s.ItemSchema().Allows("array")
}

// member reads a name, a separator and a value.
func (d *Parser) member(s *schema.Schema, more bool) (node.Node, bool) {
	start := d.Pos
	name, ok := d.key(more)
	if !ok {
		return node.Node{}, false
	}
	d.Enter(name)
	defer d.Leave()
	if !d.separator() {
		return node.Node{}, false
	}
	inner := d.Under(s, name)
	if !d.valueSpace(inner) {
		return node.Node{}, false
	}
	var v node.Node
	if d.Top().Closer == '\n' {
		v, ok = d.lineValue(inner)
	} else {
		v, ok = d.value(inner)
	}
	v.Name, v.NameOff = name, d.At(start)
	return v, ok
}

// List reads the items of an array, or of a tuple in parentheses.
func (d *Parser) List(s *schema.Schema, closer byte) (node.Node, bool) {
	n := node.Node{Kind: node.Array, Off: d.At(d.Pos)}
	if closer == ')' {
		d.Fix("tuple", d.Pos)
	}
	d.Pos++
	if !d.Push(lookahead.Frame{Closer: closer, Schema: s.ItemSchema(), List: true}) {
		return n, false
	}
	defer d.Pop()
	first := len(d.shelf.Nodes)
	ok := d.readItems(s.ItemSchema(), closer, first)
	n.Children = d.shelf.Take(first)
	return n, ok
}

func (d *Parser) readItems(s *schema.Schema, closer byte, first int) bool {
	comma := true
	for {
		if !d.Space() {
			return false
		}
		if d.Pos >= len(d.Text) {
			return d.Truncated()
		}
		switch c := d.Text[d.Pos]; {
		case c == closer:
			if comma && len(d.shelf.Nodes) > first {
				d.Fix("comma", d.Pos)
			}
			d.Pos++
			return true
		case c == ',' && comma:
			return d.FailAt("ambiguous", d.Pos, "an item is missing between two commas")
		case c == ',':
			comma = true
			d.Pos++
			continue
		}
		if !comma {
			if !d.mayFollow(&d.shelf.Nodes[len(d.shelf.Nodes)-1]) {
				return false
			}
			d.Fix("missing-comma", d.Pos)
		}
		d.EnterItem(len(d.shelf.Nodes) - first)
		v, ok := d.value(s)
		d.Leave()
		if !ok {
			return false
		}
		d.shelf.Nodes, comma = append(d.shelf.Nodes, v), false
	}
}

// mayFollow reports whether an item may start at pos without a comma after the item before it.
func (d *Parser) mayFollow(last *node.Node) bool {
	c := d.Text[d.Pos]
	blank := d.Pos > 0 && (d.Text[d.Pos-1] == ' ' || d.Text[d.Pos-1] == '\n' || d.Text[d.Pos-1] == '\t')
	switch {
	case c == '}' || c == ')' || c == ']':
		return d.FailAt("syntax", d.Pos, "unexpected %q: it does not match the open bracket", c)
	case c == '{' || c == '[' || c == '"' && last.Kind != node.Quoted:
		if blank || last.Kind == node.Array || last.Kind == node.Object {
			return true
		}
	case c == '"' && blank:
		if d.PlainItem(d.Back(d.Pos)+1, d.Pos) {
			return true
		}
	case c >= '0' && c <= '9':
		if blank && last.Kind == node.Bare && node.IsNumber(last.Text) {
			return true
		}
	case c == '+' || c == '-' || c == '*' || c == '/' || c == '%' || c == '.' || c == '(':
		return d.FailAt("code", d.Pos, "%q after a value is code, which is not evaluated", c)
	case d.IsSeparator(d.Pos):
		return d.FailAt("syntax", d.Pos, "unexpected %q after an item of an array", c)
	}
	return d.FailAt("ambiguous", d.Pos, "it is not clear whether a new item starts here; add the missing comma")
}

// encodedValue reads such a text, starting at its opening quote.
func (d *Parser) encodedValue(s *schema.Schema, q *token.Quotes) (node.Node, bool) {
	d.Fix("json-text", d.Pos)
	d.Pos = d.SkipSpaces(d.Pos + len(q.Open))
	n, ok := d.value(s)
	if !ok || !d.Space() {
		return n, false
	}
	size := 0
	if d.Pos < len(d.Text) {
		size = d.ClosesAt(q, d.Pos)
	}
	if size == 0 {
		return n, d.FailAt("ambiguous", d.Pos, "%s: it is not clear where the text ends; send %s without quotes", d.Here(), n.TypeName())
	}
	d.Pos += size
	return n, true
}

// Whole reads a text that contains one value and nothing else.
func (r *Reading) Whole(src node.Source, s *schema.Schema) (node.Node, bool) {
	if n, done, ok := r.JSON(src); done {
		return n, ok
	}
	d := r.NewParser(src)
	if !d.Space() {
		return node.Node{}, false
	}
	n, ok := d.value(s)
	if !ok || !d.Space() {
		return n, false
	}
	if d.Pos < len(d.Text) {
		return n, d.FailAt("syntax", d.Pos, "%s: unexpected text after the value", d.Here())
	}
	d.Unlike()
	return n, true
}
