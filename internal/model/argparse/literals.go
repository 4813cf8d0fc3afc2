package argparse

import "strings"

// prefixAt returns the prefix of a Python string at i: r"\d", u"x", f"x". It returns 0 for
// none. Bytes (b"x") are not text.
func (d *View) prefixAt(i int) byte {
	c := d.byteAt(i) | 0x20
	if q := d.byteAt(i + 1); (c == 'r' || c == 'u' || c == 'f') && (q == '"' || q == '\'') {
		return c
	}
	return 0
}

// prefixed reads a Python string with a prefix. done is false if the text is not one, as in
// r'est.
func (d *parser) prefixed(s *Schema) (n node, done, ok bool) {
	prefix, start := d.prefixAt(d.pos), d.pos
	if prefix == 0 {
		return n, false, false
	}
	q := d.quoteAt(start + 1)
	body := start + 1 + len(q.open)
	end, size := d.nextClose(q, body)
	triple := end == body && d.has(end+size, q.open)
	if size == 0 || !triple && !d.continues(end+size) {
		if q.open == `"` { // a word such as r'est has an apostrophe
			_, _ = d.doubtful(start)
			return n, true, false
		}
		return n, false, false
	}
	if prefix == 'f' && strings.ContainsAny(d.text[body:end], "{}") || prefix != 'u' && triple {
		return n, true, d.failAt("code", start, "%s: a string with the prefix %q is code, which is not evaluated; write the plain text", d.here(), d.text[start:start+1])
	}
	d.pos++
	if prefix == 'r' {
		raw := d.text[body:end]
		n = node{kind: quoted, off: d.at(start + 1), text: raw, exact: true}
		d.fix("quotes", start)
		d.pos = end + size
		return n, true, d.controls(raw, body)
	}
	n, ok = d.quotedText(s, q)
	d.fix("quotes", start)
	return n, true, ok
}

// tripleQuoted reads a Python string in triple quotes. It ends at the first closing triple
// quotes, which the rest of the call must follow.
func (d *parser) tripleQuoted(q *quotes) (node, bool) {
	start := d.pos
	n := node{kind: quoted, off: d.at(start)}
	mark := strings.Repeat(q.open, 3)
	body := start + 3
	end := body
	for end < len(d.text) && !d.has(end, mark) {
		if d.text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(d.text) {
		return n, d.truncated()
	}
	if !d.continues(end + 3) {
		return n, d.failAt("ambiguous", end, "%s: it is not clear where the text in three quotes ends", d.here())
	}
	d.fix("quotes", start)
	d.pos = end + 3
	text, ok := d.unescape(&quotes{open: mark, close: mark, python: true}, body, end)
	n.text = text
	return n, ok && d.spend(end-body, start)
}
