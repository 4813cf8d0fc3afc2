package grammar

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// QuotedText reads a text in quotes. It ends at the first closing quote after which the call can continue. If this is not
// the first closing quote, the earlier ones are part of the text, which must have no other reading (Ends.ClosingQuote).
func (d *Parser) QuotedText(s *schema.Schema, q *token.Quotes) (node.Node, bool) {
	start := d.Pos
	n := node.Node{Kind: node.Quoted, Off: d.At(start)}
	body := start + len(q.Open)
	if q.Open == "'" && len(d.Open) > 0 && d.Top().Closer == '\n' && d.ByteAt(body) != '\'' {
		q = &yamlQuotes
	}
	end, size := d.NextClose(q, body)
	if at, mixed := d.MixedClose(q, body, end, size); mixed > 0 {
		end, size = at, mixed
	}
	if size == 0 {
		return n, d.Truncated()
	}
	if end == body && len(q.Open) == 1 && d.Has(end+size, q.Open) {
		if q.Open != "`" && !d.Has(end+size+1, q.Open) {
			return d.tripleQuoted(q)
		}
		return n, d.FailAt("ambiguous", start, "%s: two quotes in a row may be an empty text or start one; write one quote", d.Here())
	}
	if !d.Continues(end + size) {
		if d.Encoded(s, body) {
			return d.encodedValue(s, q)
		}
		if at, nested := d.NestedClose(q, body); nested > 0 && d.Continues(at+nested) {
			end, size = at, nested
		} else if end, size = d.ClosingQuote(s, q, body, end, size); size == 0 {
			return n, false
		}
		d.Fix("unescaped-quote", start)
	}
	if q.Open == "`" && strings.Contains(d.Text[body:end], "${") {
		return n, d.FailAt("code", start, "%s: ${...} in a template text is code, which is not evaluated", d.Here())
	}
	text, ok := d.Unescape(q, body, end)
	if q.Yaml {
		text = strings.ReplaceAll(text, "''", "'")
	}
	n.Text, n.Exact = text, len(q.Open) == 1 && len(text) == end-body
	if q.Open != `"` {
		d.Fix("quotes", start)
	}
	d.Pos = end + size
	return n, ok && d.Spend(0, start)
}

// yamlQuotes are single quotes in lines, where a doubled quote stands for a single one.
var yamlQuotes = token.Quotes{Open: "'", Close: "'", Python: true, Yaml: true}

// prefixed reads a Python string with a prefix. done is false if the text is not one, as in r'est.
func (d *Parser) prefixed(s *schema.Schema) (n node.Node, done, ok bool) {
	prefix, start := d.PrefixAt(d.Pos), d.Pos
	if prefix == 0 {
		return n, false, false
	}
	q := d.QuoteAt(start + 1)
	body := start + 1 + len(q.Open)
	end, size := d.NextClose(q, body)
	triple := end == body && d.Has(end+size, q.Open)
	if size == 0 || !triple && !d.Continues(end+size) {
		if q.Open == `"` { // a word such as r'est has an apostrophe
			_, _ = d.Doubtful(start)
			return n, true, false
		}
		return n, false, false
	}
	if prefix == 'f' && strings.ContainsAny(d.Text[body:end], "{}") || prefix != 'u' && triple {
		return n, true, d.FailAt("code", start, "%s: a string with the prefix %q is code, which is not evaluated; write the plain text", d.Here(), d.Text[start:start+1])
	}
	d.Pos++
	if prefix == 'r' {
		raw := d.Text[body:end]
		n = node.Node{Kind: node.Quoted, Off: d.At(start + 1), Text: raw, Exact: true}
		d.Fix("quotes", start)
		d.Pos = end + size
		return n, true, d.controls(raw, body)
	}
	n, ok = d.QuotedText(s, q)
	d.Fix("quotes", start)
	return n, true, ok
}

// tripleQuoted reads a Python string in triple quotes. It ends at the first closing triple quotes, which the rest of the
// call must follow.
func (d *Parser) tripleQuoted(q *token.Quotes) (node.Node, bool) {
	start := d.Pos
	n := node.Node{Kind: node.Quoted, Off: d.At(start)}
	mark := strings.Repeat(q.Open, 3)
	body := start + 3
	end := body
	for end < len(d.Text) && !d.Has(end, mark) {
		if d.Text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(d.Text) {
		return n, d.Truncated()
	}
	if !d.Continues(end + 3) {
		return n, d.FailAt("ambiguous", end, "%s: it is not clear where the text in three quotes ends", d.Here())
	}
	d.Fix("quotes", start)
	d.Pos = end + 3
	text, ok := d.Unescape(&token.Quotes{Open: mark, Close: mark, Python: true}, body, end)
	n.Text = text
	return n, ok && d.Spend(end-body, start)
}
