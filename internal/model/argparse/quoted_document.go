package argparse

import "strings"

// quotedWhole reads a text that is one string with quotes that JSON does not have, or with
// unescaped quotes inside: '{"p": 10}'.
func (d *documents) quotedWhole(start, end int) (n node, done, ok bool) {
	q := d.quoteAt(start)
	if q == nil || d.has(start, "```") || d.has(start, "'''") || d.has(start, `"""`) {
		return n, false, false
	}
	body := start + len(q.open)
	first := d.skipSpaces(body)
	if c := d.byteAt(first); c != '{' && c != '[' && c != '\\' && c != '"' {
		return n, false, false
	}
	size := len(q.close)
	if end-size < body || d.closesAt(q, end-size) == 0 || d.text[end-size-1] == '\\' {
		return n, true, d.truncated()
	}
	raw := d.text[body : end-size]
	n = node{kind: quoted, off: d.at(start), text: raw, exact: len(q.open) == 1}
	d.fix("quotes", start)
	if !strings.Contains(raw, `\`) {
		return n, true, true
	}
	return d.escapedWhole(n, q, body, end-size)
}

// escapedWhole decides whether the backslashes in a quoted document escape its quotes or are
// part of its content.
func (d *documents) escapedWhole(n node, q *quotes, body, end int) (node, bool, bool) {
	asIs, _, code, plain := readJSON(source{text: n.text}, 0)
	text, ok := d.unescape(q, body, end)
	if code != "" || !ok {
		return n, true, ok && d.failAt("ambiguous", body, "the text in quotes has no single reading")
	}
	inside, rest, _, decoded := readJSON(source{text: text}, 0)
	decoded = decoded && isSpaces(text[rest:])
	if plain && decoded && !equal(shape(&asIs), shape(&inside)) || !plain && !decoded {
		return n, true, d.failAt("ambiguous", body, "it is not clear what the backslashes in the quoted text mean")
	}
	if decoded {
		n.text, n.exact = text, false
	}
	return n, true, true
}
