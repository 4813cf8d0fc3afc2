package find

import (
	"html"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/lookahead"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// documents reads texts that are one call as a whole.
type documents struct{ *grammar.Parser }

// escapedObject reads an object with escaped quotes but no string around it, {\"p\": 10}, or with HTML entities as quotes,
// {&quot;p&quot;: 10}.
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
	quote, size := d.NextClose(token.DoubleQuotes(), start)
	switch {
	case strings.HasPrefix(inside, `\"`) && (size == 0 || quote >= end), strings.HasPrefix(inside, `\'`) && !strings.Contains(raw, `"`):
		n.Text, ok = d.Unescape(token.DoubleQuotes(), start, end)
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
	entities := []string{"&quot;", "&#34;", "&#x22;", "&apos;", "&#39;", "&#x27;"}
	return slices.ContainsFunc(entities, func(e string) bool { return strings.HasPrefix(s, e) })
}

// quotedWhole reads a text that is one string with quotes that JSON does not have, or with unescaped quotes inside: '{"p":
// 10}'.
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

// escapedWhole decides whether the backslashes in a quoted document escape its quotes or are part of its content.
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

// hasBracelessObject reports whether the text from i on is an object without its opening brace: it starts with a declared
// name in quotes, ends with a closing brace, and has one closing brace too many.
func (d *documents) hasBracelessObject(i, end int) bool {
	if d.QuoteAt(i) == nil || d.Text[end-1] != '}' {
		return false
	}
	d.Use(end - i)
	return d.InputAt(i) && strings.Count(d.Text, "}") == strings.Count(d.Text, "{")+1
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

// linesAt reports whether lines of names and values start at i, and returns the position of the first one. They may follow
// a --- line or the name of the tool, and may be inside an envelope.
func (d *documents) linesAt(i int) (int, bool) {
	if d.Has(i, "---") && d.LineEnd(d.SkipLineSpaces(i+3)) {
		d.Document = true
		i = d.Skip(i + 3)
	}
	if word := d.BareKey(i); d.LineEnd(word) && d.IsTool(d.Text[i:word]) {
		below := d.Skip(word)
		if d.InputAt(below) && d.QuoteAt(below) == nil {
			return below, true // after the name of the tool
		}
	}
	name, ok := d.KeyAt(i)
	if !ok {
		return i, false
	}
	return i, d.InputName(name) || d.QuoteAt(i) == nil && d.linesEnvelope(i, name)
}

// linesAfterProse returns the position of lines of names and values after a sentence that ends with a colon.
func (d *documents) linesAfterProse(i int) (int, bool) {
	colon := strings.Index(d.Text[i:], ":\n")
	if colon < 0 || strings.ContainsAny(d.Text[i:i+colon], "{}[]()<>=`\n\"") {
		return i, false
	}
	d.Use(colon)
	below := d.SkipSpaces(i + colon + 1)
	return below, d.InputAt(below) && d.Column(below) == 0 && d.QuoteAt(below) == nil && d.ByteAt(d.BareKey(below)) == ':'
}

// listOfOne reports whether the text starts with a dash and a declared name: a list with one object.
func (d *documents) listOfOne(i int) bool {
	return d.Has(i, "- ") && d.InputAt(d.SkipLineSpaces(i+1))
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

// linesEnvelope reports whether the name at i starts an envelope: the tool or a key for arguments with indented parameters
// below, or a key for the tool followed by such a key.
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
