package argparse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mixedClose finds the end of a text with two kinds of quotes: "text” or “text". It is the
// first quote of the other kind, if the next member follows and the text has no closing quote
// of its own kind. n is 0 for none.
func (d *Ends) mixedClose(q *quotes, body, end, size int) (at, n int) {
	other := ""
	switch {
	case q.open == `"`:
		other = "”"
	case q.open == "“" && d.curlyName(body-len(q.open)): // otherwise a plain quote may be missing before it
		other = `"`
	default:
		return 0, 0
	}
	if len(d.open) == 0 || d.top().closer == '\n' || size > 0 && d.continues(end+size) {
		return 0, 0
	}
	d.Use(end - body)
	text, _, found := strings.Cut(d.text[body:end], other)
	last, _ := utf8.DecodeLastRuneInString(text)
	if !found || strings.Contains(text, "“") || strings.Contains(text, "„") || !unicode.IsLetter(last) && !unicode.IsDigit(last) {
		return 0, 0
	}
	if at = body + len(text); d.memberFollows(at + len(other)) {
		return at, len(other)
	}
	return 0, 0
}

// curlyName reports whether the name before the value at i has typographic quotes.
func (d *View) curlyName(i int) bool {
	sep := d.back(i)
	before := strings.TrimRight(d.text[max(0, sep-maxKey):sep], " ")
	if !d.isSeparator(sep) || strings.HasSuffix(before, "”") {
		return d.isSeparator(sep)
	}
	name, plain := strings.CutSuffix(before, `"`)
	open := strings.LastIndex(name, "“")
	return plain && open >= 0 && !strings.ContainsAny(name[open:], " \",")
}

// mixedKey reads a declared name with two kinds of quotes, “name" or "name”.
func (d *Names) mixedKey(i int) (name string, end int, ok bool) {
	open := d.has(i, "“")
	start, shut := i+1, "”"
	switch {
	case open:
		start, shut = i+len("“"), `"`
	case d.byteAt(i) != '"':
		return "", 0, false
	}
	word := d.bareKey(start)
	end = word + len(shut)
	if word == start || !d.has(word, shut) || !d.isSeparator(d.skipSpaces(end)) || !d.declaredHere(d.text[start:word]) {
		return "", 0, false
	}
	return d.text[start:word], end, true
}

// memberFollows reports whether a declared name follows the value that ends at i.
func (d *Names) memberFollows(i int) bool {
	k := d.skipSpaces(i)
	if n := d.commaAt(k); n > 0 && !d.top().list {
		name, ok := d.keyAt(d.skipSpaces(k + n))
		return ok && d.declaredHere(name)
	}
	return false
}

// nestedClose returns the closing quote that balances the opening one, in a text with nested
// typographic quotes.
func (d *View) nestedClose(q *quotes, body int) (at, size int) {
	if q.open == q.close || len(q.open) == 1 {
		return 0, 0
	}
	depth := 1
	for i := body; i < len(d.text); {
		switch n := d.closesAt(q, i); {
		case n > 0:
			if depth--; depth == 0 {
				d.Use(i - body)
				return i, n
			}
			i += n
		case d.has(i, q.open):
			depth++
			i += len(q.open)
		default:
			i++
		}
	}
	d.Use(len(d.text) - body)
	return 0, 0
}

// openTypographic reports whether a text ends inside a typographic quote: Das „Haus.
func openTypographic(s string) bool {
	open := max(strings.LastIndex(s, "„"), strings.LastIndex(s, "“"))
	return open >= 0 && open > strings.LastIndex(s, "”")
}
