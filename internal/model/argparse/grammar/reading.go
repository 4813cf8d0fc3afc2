package grammar

import (
	"github.com/flowrun/flowrun/internal/model/argparse/lookahead"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// Parser is a recursive descent parser for a superset of JSON.
type Parser struct {
	lookahead.Ends
	Pos      int
	shelf    *node.Stack
	Document bool // the lines start with ---, so ... may end them
}

// Push opens a frame.
func (d *Parser) Push(f lookahead.Frame) bool {
	if len(d.Open) >= node.MaxDepth {
		return d.FailAt("too-deep", d.Pos, "objects and arrays are nested more than %d levels deep", node.MaxDepth)
	}
	d.Open = append(d.Open, f)
	return true
}

// Reading is what all readers of one input share.
type Reading struct {
	report.Report
	token.Budget
	shelf *node.Stack
}

// NewReading starts reading an input of this size.
func NewReading(s *schema.Schema, tool string, size int) *Reading {
	return &Reading{Report: report.Report{Call: schema.Call{Root: s, Tool: tool}}, Budget: token.NewBudget(size), shelf: node.NewStack()}
}

// End releases what the reading used.
func (r *Reading) End() { r.shelf.Put() }

// JSON reads a text that is only JSON. done reports whether the result is final, because the text is JSON or cannot be
// anything else.
func (r *Reading) JSON(src node.Source) (n node.Node, done, ok bool) {
	n, end, code, ok := node.ReadJSON(src, 0)
	switch {
	case ok && node.IsSpaces(src.Text[end:]):
		return n, true, true
	case code == "too-deep":
		return n, true, r.Fail(code, int(src.At(end)), "objects and arrays are nested more than %d levels deep", node.MaxDepth)
	case code == "encoding":
		return n, true, r.Fail(code, int(src.At(end)), "a string contains an invalid escape: half of a surrogate pair")
	}
	return n, false, false
}

// NewParser returns a parser at the start of a text.
func (r *Reading) NewParser(src node.Source) *Parser {
	return &Parser{Ends: lookahead.New(src, &r.Report, &r.Budget), shelf: r.shelf}
}

// Space skips spaces and comments between tokens. It refuses a comment with an unpaired quote, which may be the rest of a
// text.
func (d *Parser) Space() bool {
	for {
		d.Pos = d.SkipSpaces(d.Pos)
		if j := d.EscapedSpace(d.Pos); j > d.Pos {
			d.Fix("escape", d.Pos)
			d.Pos = j
			continue
		}
		j := d.Comment(d.Pos)
		if j == d.Pos {
			return true
		}
		if d.OddQuotes(d.Pos, j) {
			return d.FailAt("ambiguous", d.Pos, "it is not clear whether this is a comment or the rest of a text")
		}
		d.Fix("comment", d.Pos)
		d.Pos = j
	}
}

// valueSpace skips spaces between a separator and its value. A comment there may also be text.
func (d *Parser) valueSpace(s *schema.Schema) bool {
	if d.Top().Closer == '\n' {
		d.Pos = d.SkipLineSpaces(d.Pos)
	} else {
		d.Pos = d.SkipSpaces(d.Pos)
	}
	if j := d.EscapedSpace(d.Pos); j > d.Pos && (!s.Allows("string") || d.QuoteAt(j) != nil) {
		d.Fix("escape", d.Pos)
		d.Pos = j
	}
	if d.Comment(d.Pos) == d.Pos {
		return d.Spend(0, d.Pos)
	}
	if j := d.Comment(d.Pos); d.Has(d.Pos, "/*") && d.Has(j-2, "*/") && d.QuoteAt(d.SkipSpaces(j)) != nil && d.Top().Closer != '\n' {
		return d.Space()
	}
	if s.Allows("string") {
		return d.FailAt("ambiguous", d.Pos, "%s may be text or a comment; put the text in quotes", d.Here())
	}
	if d.Top().Closer == '\n' {
		return d.FailAt("syntax", d.Pos, "%s has no value", d.Here())
	}
	return d.Space()
}

// Unlike records a repair if only spaces differ from JSON.
func (d *Parser) Unlike() {
	if !d.Repaired {
		d.Fix("blank", 0)
	}
}
