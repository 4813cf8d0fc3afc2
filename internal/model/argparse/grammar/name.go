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

// key reads a name, with or without quotes.
func (d *Parser) key(more bool) (string, bool) {
	i := d.Pos
	if d.Dots(i) {
		return "", d.FailAt("ellipsis", i, "the object contains ... in place of omitted content; write every name and value")
	}
	if j := d.Symbol(i); j > i {
		d.Fix("bare-key", i)
		d.Pos, i = j, j
	}
	if d.Has(i, "**") || d.ByteAt(i) == '*' {
		return "", d.FailAt("code", i, "* and ** are code, which is not evaluated; write names and values")
	}
	if name, end, ok := d.LooseKey(i); ok {
		d.Fix("quotes", i)
		d.Pos = end
		return name, true
	}
	if d.PrefixAt(i) != 0 {
		if _, ok := d.KeyAt(i + 1); ok {
			i++
			d.Pos = i
		}
	}
	if q := d.QuoteAt(i); q != nil {
		return d.quotedKey(q)
	}
	end := d.BareKey(i)
	if end == i {
		return "", d.noKey(i, more)
	}
	if d.QuoteAt(end) != nil {
		return "", d.FailAt("syntax", end, "unexpected quote inside a name")
	}
	if j := d.SkipSpaces(end); !d.IsSeparator(j) {
		return "", d.noSeparator(i, end, j, more)
	}
	d.Pos = end
	if d.Top().Closer == '}' {
		d.Fix("bare-key", i)
	}
	return d.Text[i:end], true
}

// noKey refuses text in place of a name, with a reason.
func (d *Parser) noKey(i int, more bool) bool {
	c, _ := utf8.DecodeRuneInString(d.Text[i:])
	switch {
	case more && c >= '0' && c <= '9' && d.ByteAt(d.Back(i)) == ',' && (d.Top().Closer != ')' || d.Text[i-1] == ','):
		return d.FailAt("number", i, "expected a name after the comma, found %q: is it a decimal comma, a thousands separator, or a list without brackets?", c)
	case c == '}' || c == ']' || c == ')':
		return d.FailAt("syntax", i, "unexpected %q: it does not match the open bracket", c)
	case c == '+' || c == '-' || c == '/' || c == '%' || c == '|' || c == '?' || c == '.':
		return d.FailAt("code", i, "%q after a value is code, which is not evaluated", c)
	case d.Top().Closer == ')':
		return d.FailAt("positional", i, "a value has no name; write name=value")
	}
	return d.FailAt("syntax", i, "expected a name, found %q", c)
}

// noSeparator refuses a name without a separator, with a reason.
func (d *Parser) noSeparator(i, end, j int, more bool) bool {
	word := d.Text[i:end]
	switch c := d.ByteAt(j); {
	case j >= len(d.Text) && d.Top().Closer != '\n':
		return d.Truncated()
	case c == '(' || c == '[' || c == '+' || c == '*' || c == '.':
		return d.FailAt("code", i, "%s is followed by %q: this is code, which is not evaluated", report.Quote(word), c)
	case word[0] >= '0' && word[0] <= '9':
		return d.noKey(i, more)
	case d.Top().Closer == ')':
		return d.FailAt("positional", i, "the value %s has no name; write name=value", report.Quote(word))
	case word == "for" || word == "if" || word == "else" || word == "or" || word == "and":
		return d.FailAt("code", i, "%s is code, which is not evaluated", report.Quote(word))
	case d.Top().Closer == '\n':
		return d.FailAt("ambiguous", i, "%s is not a name with a value, and it is not clear which value it is part of", report.Quote(word))
	}
	return d.FailAt("syntax", j, "the name %s is not followed by a colon and a value", report.Quote(word))
}

func (d *Parser) separator() bool {
	if !d.Space() {
		return false
	}
	size := d.SeparatorAt(d.Pos)
	switch {
	case d.Pos >= len(d.Text):
		return d.Truncated()
	case size == 0 && d.Definite(d.Pos):
		d.Fix("missing-colon", d.Pos)
	case size == 0:
		return d.FailAt("syntax", d.Pos, "the name is not followed by a colon and a value")
	case d.Text[d.Pos] == '=' && d.Top().Closer != ')' || d.Text[d.Pos] != '=' && size > 1:
		d.Fix("separator", d.Pos)
	}
	d.Pos += size
	return true
}

// quotedKey reads a name in quotes. A separator must follow.
func (d *Parser) quotedKey(q *token.Quotes) (string, bool) {
	start := d.Pos
	body := start + len(q.Open)
	end, size := d.NextClose(q, body)
	if size == 0 {
		return "", d.Truncated()
	}
	after := d.Skip(end + size)
	switch {
	case after >= len(d.Text):
		return "", d.Truncated()
	case !d.IsSeparator(after) && !d.ColonLost(d.Text[body:end], after):
		code, what := "syntax", "the name %s is not followed by a colon and a value"
		if d.Top().Closer == ')' {
			code, what = "positional", "the value %s has no name; write name=value"
		}
		return "", d.FailAt(code, start, what, report.Quote(d.Text[body:end]))
	}
	name, ok := d.Unescape(q, body, end)
	if q.Open != `"` {
		d.Fix("quotes", start)
	}
	d.Pos = end + size
	return name, ok
}

// bareValue reads a value without quotes. If the schema allows text, it extends to an unambiguous end; otherwise it is one
// word, which package bind interprets.
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
