package grammar

import (
	"github.com/flowrun/flowrun/internal/model/argparse/lookahead"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// Reading is what all readers of one input share.
type Reading struct {
	*report.Report
	*token.Budget
	shelf *node.Stack
}

// NewReading starts reading an input of this size.
func NewReading(s *schema.Schema, tool string, size int) *Reading {
	return &Reading{Report: &report.Report{Call: &schema.Call{Root: s, Tool: tool}}, Budget: token.NewBudget(size), shelf: node.NewStack()}
}

// End releases what the reading used.
func (r *Reading) End() { r.shelf.Put() }

// JSON reads a text that is only JSON. done reports whether the result is final, because the
// text is JSON or cannot be anything else.
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

func (r *Reading) NewParser(src node.Source) *Parser {
	return &Parser{Ends: lookahead.New(src, r.Report, r.Budget), shelf: r.shelf}
}
