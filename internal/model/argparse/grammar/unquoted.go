package grammar

import (
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/model/argparse/lookahead"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// bareValue reads a value without quotes. If the schema allows text, it extends to an
// unambiguous end; otherwise it is one word, which fit.go interprets.
func (d *Parser) bareValue(s *schema.Schema) (node.Node, bool) {
	start := d.Pos
	if word := d.BareKey(start); word > start && word-start < 3 && node.Digits(d.Text[start:word]) == 0 && d.QuoteAt(word) != nil && !d.Apostrophe(word, len(d.QuoteAt(word).Open)) {
		return node.Node{}, d.FailAt("code", start, "%s: the prefix %s before a quote is code, which is not evaluated; write the plain text", d.Here(), report.Quote(d.Text[start:word]))
	}
	var end int
	var ok bool
	if s != nil && !s.Free() && (s.Allows("string") || s.Allows("array")) {
		end, ok = d.BareText(start)
	} else {
		end, ok = d.BareWord(start)
	}
	if !ok {
		return node.Node{}, false
	}
	if d.ByteAt(end) == '"' && d.OpeningLost(start, end) {
		d.Fix("quotes", start)
		d.Pos = end + 1
		return node.Node{Kind: node.Quoted, Off: d.At(start), Text: d.Text[start:end]}, true
	}
	text := strings.TrimRightFunc(d.Text[start:end], token.Invisible)
	n := node.Node{Kind: node.Bare, Off: d.At(start), Text: text}
	if text == "" {
		return n, d.noValue(start)
	}
	if lookahead.Ellipsis(text) {
		return n, d.FailAt("ellipsis", start, "%s: the value contains ... in place of omitted content; write the whole value", d.Here())
	}
	if d.Top().List && strings.Contains(text, " for ") && strings.Contains(text, " in ") {
		return n, d.FailAt("code", start, "%s: this is code, which is not evaluated; write the items", d.Here())
	}
	if text == "undefined" {
		return n, d.FailAt("code", start, "%s: undefined is not a value; omit the name", d.Here())
	}
	if lit := n.Literal(); lit.Kind == node.Bare || lit.Kind != node.Null && !s.Free() && s.Allows("string") && !s.Allows(lit.TypeName()) {
		d.Fix("bare-text", start)
	} else if lit.Kind != node.Number && strings.ContainsAny(text[:1], "TFN") {
		d.Fix("literal", start)
	}
	d.Pos = end
	return n, true
}

// noValue refuses a missing value, with a reason.
func (d *Parser) noValue(i int) bool {
	switch c := d.ByteAt(i); {
	case i >= len(d.Text):
		return d.Truncated()
	case c == ',' || d.IsCloser(i):
		if d.Top().Closer != c && c != ',' {
			return d.FailAt("syntax", i, "unexpected %q: it does not match the open bracket", c)
		}
		return d.FailAt("syntax", i, "%s has no value", d.Here())
	}
	c, _ := utf8.DecodeRuneInString(d.Text[i:])
	return d.FailAt("syntax", i, "%s: a value cannot start with %q", d.Here(), c)
}
