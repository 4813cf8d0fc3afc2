package find

import (
	"html"
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/lookahead"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// documents reads texts that are one call as a whole.
type documents struct{ *grammar.Parser }

// escapedObject reads an object with escaped quotes but no string around it, {\"p\": 10}, or
// with HTML entities as quotes, {&quot;p&quot;: 10}.
func (d *documents) escapedObject(start, end int) (n node.Node, done, ok bool) {
	raw := d.Text[start:end]
	if raw[0] != '{' && raw[0] != '[' {
		return n, false, false
	}
	inside := strings.TrimLeft(raw[1:], " \t\r\n{[")
	for strings.HasPrefix(inside, `\n`) || strings.HasPrefix(inside, `\t`) {
		inside = strings.TrimLeft(inside[2:], " \t\r\n")
	}
	n = node.Node{Kind: node.Quoted, Off: d.At(start)}
	d.Use(len(raw))
	switch {
	case strings.HasPrefix(inside, `\"`) && !unescapedQuote(raw), strings.HasPrefix(inside, `\'`) && !strings.Contains(raw, `"`):
		text, ok := d.Unescape(token.DoubleQuotes(), start, end)
		n.Text = text
		d.Fix("escape", start)
		return n, true, ok
	case quoteEntity(inside) && !strings.ContainsAny(raw, `"'`):
		n.Text = html.UnescapeString(raw)
		d.Fix("escape", start)
		return n, true, true
	}
	return n, false, false
}

// quoteEntity reports whether a text starts with an HTML entity for a quote.
func quoteEntity(s string) bool {
	for _, entity := range []string{"&quot;", "&#34;", "&#x22;", "&apos;", "&#39;", "&#x27;"} {
		if strings.HasPrefix(s, entity) {
			return true
		}
	}
	return false
}

// unescapedQuote reports whether s contains a double quote without a backslash before it.
func unescapedQuote(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return true
		}
	}
	return false
}

// quotedWhole reads a text that is one string with quotes that JSON does not have, or with
// unescaped quotes inside: '{"p": 10}'.
func (d *documents) quotedWhole(start, end int) (n node.Node, done, ok bool) {
	q := d.QuoteAt(start)
	if q == nil || d.Has(start, "```") || d.Has(start, "'''") || d.Has(start, `"""`) {
		return n, false, false
	}
	body := start + len(q.Open)
	first := d.SkipSpaces(body)
	if c := d.ByteAt(first); c != '{' && c != '[' && c != '\\' && c != '"' {
		return n, false, false
	}
	size := len(q.Close)
	if end-size < body || d.ClosesAt(q, end-size) == 0 || d.Text[end-size-1] == '\\' {
		return n, true, d.Truncated()
	}
	raw := d.Text[body : end-size]
	n = node.Node{Kind: node.Quoted, Off: d.At(start), Text: raw, Exact: len(q.Open) == 1}
	d.Fix("quotes", start)
	if !strings.Contains(raw, `\`) {
		return n, true, true
	}
	return d.escapedWhole(n, q, body, end-size)
}

// escapedWhole decides whether the backslashes in a quoted document escape its quotes or are
// part of its content.
func (d *documents) escapedWhole(n node.Node, q *token.Quotes, body, end int) (node.Node, bool, bool) {
	asIs, _, code, plain := node.ReadJSON(node.Source{Text: n.Text}, 0)
	text, ok := d.Unescape(q, body, end)
	if code != "" || !ok {
		return n, true, ok && d.FailAt("ambiguous", body, "the text in quotes has no single reading")
	}
	inside, rest, _, decoded := node.ReadJSON(node.Source{Text: text}, 0)
	decoded = decoded && node.IsSpaces(text[rest:])
	if plain && decoded && !node.Equal(&asIs, &inside) || !plain && !decoded {
		return n, true, d.FailAt("ambiguous", body, "it is not clear what the backslashes in the quoted text mean")
	}
	if decoded {
		n.Text, n.Exact = text, false
	}
	return n, true, true
}

// hasBracelessObject reports whether the text from i on is an object without its opening
// brace: it starts with a declared name in quotes, ends with a closing brace, and has one
// closing brace too many.
func (d *documents) hasBracelessObject(i, end int) bool {
	if d.QuoteAt(i) == nil || d.Text[end-1] != '}' {
		return false
	}
	name, ok := d.KeyAt(i)
	d.Use(end - i)
	return ok && d.InputName(name) && strings.Count(d.Text, "}") == strings.Count(d.Text, "{")+1
}

// bracelessObject reads such an object. It must be the whole text.
func (d *documents) bracelessObject(end int) (node.Node, bool) {
	if !d.Space() {
		return node.Node{}, false
	}
	d.Fix("bracket", d.Pos)
	n, ok := d.Members(d.Pos, lookahead.Frame{Closer: '}', Schema: d.Root})
	if ok && d.Pos < end {
		return n, d.FailAt("ambiguous", d.Pos, "the object has no opening brace, and text follows it")
	}
	return n, ok
}
