package argparse

import (
	"strings"
	"unicode/utf8"
)

// bareValue reads a value without quotes. If the schema allows text, it extends to an
// unambiguous end; otherwise it is one word, which fit.go interprets.
func (d *parser) bareValue(s *Schema) (node, bool) {
	start := d.pos
	if word := d.bareKey(start); word > start && word-start < 3 && digits(d.text[start:word]) == 0 && d.quoteAt(word) != nil && !d.apostrophe(word, len(d.quoteAt(word).open)) {
		return node{}, d.failAt("code", start, "%s: the prefix %s before a quote is code, which is not evaluated; write the plain text", d.here(), quote(d.text[start:word]))
	}
	var end int
	var ok bool
	if s != nil && !s.free() && (s.allows("string") || s.allows("array")) {
		end, ok = d.bareText(start)
	} else {
		end, ok = d.bareWord(start)
	}
	if !ok {
		return node{}, false
	}
	if d.byteAt(end) == '"' && d.openingLost(start, end) {
		d.fix("quotes", start)
		d.pos = end + 1
		return node{kind: quoted, off: d.at(start), text: d.text[start:end]}, true
	}
	text := strings.TrimRightFunc(d.text[start:end], invisible)
	n := node{kind: bare, off: d.at(start), text: text}
	if text == "" {
		return n, d.noValue(start)
	}
	if ellipsis(text) {
		return n, d.failAt("ellipsis", start, "%s: the value contains ... in place of omitted content; write the whole value", d.here())
	}
	if d.top().list && strings.Contains(text, " for ") && strings.Contains(text, " in ") {
		return n, d.failAt("code", start, "%s: this is code, which is not evaluated; write the items", d.here())
	}
	if text == "undefined" {
		return n, d.failAt("code", start, "%s: undefined is not a value; omit the name", d.here())
	}
	if lit := n.literal(); lit.kind == bare || lit.kind != null && !s.free() && s.allows("string") && !s.allows(lit.typeName()) {
		d.fix("bare-text", start)
	} else if lit.kind != number && strings.ContainsAny(text[:1], "TFN") {
		d.fix("literal", start)
	}
	d.pos = end
	return n, true
}

// ellipsis reports whether dots replace omitted content.
func ellipsis(s string) bool {
	return strings.HasPrefix(s, "...") || strings.HasSuffix(s, "...") || strings.Contains(s, "…")
}

// noValue refuses a missing value, with a reason.
func (d *parser) noValue(i int) bool {
	switch c := d.byteAt(i); {
	case i >= len(d.text):
		return d.truncated()
	case c == ',' || d.isCloser(i):
		if d.top().closer != c && c != ',' {
			return d.failAt("syntax", i, "unexpected %q: it does not match the open bracket", c)
		}
		return d.failAt("syntax", i, "%s has no value", d.here())
	}
	c, _ := utf8.DecodeRuneInString(d.text[i:])
	return d.failAt("syntax", i, "%s: a value cannot start with %q", d.here(), c)
}

func (d *View) isCloser(i int) bool {
	c := d.byteAt(i)
	return c == '}' || c == ']' || c == ')'
}

// bareWord returns the end of a value that is not text.
func (d *Ends) bareWord(i int) (int, bool) {
	for i < len(d.text) {
		switch c := d.text[i]; {
		case c == ',' || c == '\n' || d.isCloser(i):
			return i, true
		case c == '(' || c == '{' || c == '[':
			return i, d.failAt("code", i, "%s: this is code, which is not evaluated; write its value", d.here())
		case d.quoteAt(i) != nil:
			if c == '"' || c == '\'' {
				if d.isKey(i) {
					return i, true
				}
			}
			return i, d.failAt("ambiguous", i, "%s: an unquoted value contains a quote", d.here())
		case c == ' ' || c == '\t' || c == '\r':
			k := d.skipSpaces(i)
			if d.comment(k) > k || d.isKey(k) || d.byteAt(k) == ',' || d.isCloser(k) || d.inItems(k) {
				return i, true
			}
			i = k
			continue
		case d.has(i, "/*") || d.has(i, "//"):
			return i, true
		case c == '\\' && d.escapedSpace(i) > i, d.commaAt(i) == 3:
			return i, true
		case c == ';':
			if k := d.skipSpaces(i + 1); !d.top().list && (k >= len(d.text) || d.isKey(k) || d.byteAt(k) == d.top().closer || d.byteAt(k) == '\n') {
				return i, true
			}
			return i, d.failAt("syntax", i, "%s: values are separated by commas, not by semicolons", d.here())
		}
		i++
	}
	return i, true
}

// inItems reports whether another item may start at k without a comma.
func (d *Ends) inItems(k int) bool {
	c := d.byteAt(k)
	return d.top().list && (c >= '0' && c <= '9' || c == '"' || c == '{' || c == '[')
}

// bareText returns the end of an unquoted text: a comma before a name, the closing bracket, or
// the end of the line. It refuses a text with more than one possible end.
func (d *Ends) bareText(i int) (int, bool) {
	f := d.top()
	doubt := func(i int, why string) (int, bool) {
		return i, d.failAt("ambiguous", i, "%s: it is not clear where the unquoted text ends, because it contains %s; put the text in quotes", d.here(), why)
	}
	if name, ok := d.keyAt(i); ok && d.declared(name) {
		return doubt(i, "the name "+quote(name))
	}
	start, quotesInLine := i, false
	for i < len(d.text) {
		c := d.text[i]
		switch {
		case c == ',' && f.list:
			return i, true
		case c == ',':
			end, ok := d.comma(i)
			if end && quotesInLine {
				return doubt(i, "a quote")
			}
			if end || !ok {
				return i, ok
			}
		case c == '&':
			if name, ok := d.keyAt(i + 1); ok && d.declared(name) {
				return doubt(i, "the name "+quote(name))
			}
		case c == f.closer && c != '\n':
			return i, true
		case c == '\n' && f.closer == '\n':
			return i, true
		case d.isCloser(i):
			return i, d.failAt("syntax", i, "unexpected %q: it does not match the open bracket", c)
		case c == '(' && d.bareKey(max(i-1, 0)) > i-1, c == '{' && d.byteAt(i-1) == '$':
			return i, d.failAt("code", i, "%s: this may be code, which is not evaluated; put the text in quotes", d.here())
		case c == '{' || c == '[' || c == '(':
			return doubt(i, "a bracket")
		case d.quoteAt(i) != nil:
			size := len(d.quoteAt(i).open)
			if !d.apostrophe(i, size) {
				if d.openingLost(start, i) {
					return i, true
				}
				if f.closer != '\n' || c != '"' && c != '\'' || !d.pairsInLine(start) {
					return doubt(i, "a quote")
				}
				quotesInLine = true
			}
			i += size
			continue
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ';':
			k := d.skipSpaces(i)
			if c == ';' {
				if k = d.skipSpaces(i + 1); f.closer == '\n' && d.lineEnd(d.skipLineSpaces(i+1)) {
					return doubt(i, "a semicolon")
				}
			}
			end, ok := d.gap(k, strings.ContainsRune(d.text[i:k], '\n'))
			if end || !ok {
				return i, ok
			}
			i = min(k, len(d.text))
			continue
		}
		i++
	}
	return i, true
}

// openingLost reports whether the quote at i closes a text whose opening quote is missing.
// start is the start of the text. The name before it must have such quotes, the text must not
// contain others, and the next declared name or the end of the object must follow. A quote
// after a digit may be an inch sign.
func (d *Ends) openingLost(start, i int) bool {
	if d.top().list {
		return d.itemOpeningLost(start, i)
	}
	if d.text[i] != '"' || d.top().closer != '}' || d.text[i-1] >= '0' && d.text[i-1] <= '9' || invisible(rune(d.text[i-1])) {
		return false
	}
	sep := d.back(start)
	if gap := d.text[sep+1 : start]; gap != "" && (gap != " " || !d.spacedColons()) {
		return false // the space may be part of the text
	}
	if c := d.byteAt(sep); c != ':' || d.byteAt(d.back(sep)) != '"' || strings.IndexByte(d.text[start:i], '\\') >= 0 {
		return false
	}
	if d.memberFollows(i + 1) {
		return true
	}
	k := d.skipSpaces(i + 1)
	return d.byteAt(k) == '}' && len(d.open) == 1 && d.lastQuote <= i
}

// itemOpeningLost is openingLost for an item of an array.
func (d *Ends) itemOpeningLost(start, i int) bool {
	if d.text[i] != '"' || d.text[i-1] >= '0' && d.text[i-1] <= '9' || invisible(rune(d.text[i-1])) || strings.IndexByte(d.text[start:i], '\\') >= 0 {
		return false
	}
	before := d.back(start)
	if gap := d.text[before+1 : start]; gap != "" && !strings.Contains(gap, "\n") && (gap != " " || !d.spacedColons()) {
		return false
	}
	k := d.skipSpaces(i + 1)
	if d.byteAt(k) == ',' {
		return d.byteAt(d.skipSpaces(k+1)) == '"' && d.byteAt(before) == '['
	}
	return d.byteAt(k) == ']' && d.byteAt(before) == ',' && d.byteAt(d.back(before)) == '"'
}

// spacedColons reports whether one space follows every colon after a name, and there are at
// least two.
func (d *View) spacedColons() bool {
	d.Use(len(d.text))
	all := strings.Count(d.text, `":`)
	return all > 1 && all == strings.Count(d.text, `": `)
}

// pairsInLine reports whether the quotes in the rest of a line are paired.
func (d *Ends) pairsInLine(i int) bool {
	end := d.endOfLine(i)
	return d.spend(end-i, i) && !d.oddQuotes(i, end)
}

// comma reports whether an unquoted text ends at the comma at i.
func (d *Ends) comma(i int) (end, ok bool) {
	f := d.top()
	k := d.skipSpaces(i + 1)
	switch {
	case k >= len(d.text), d.byteAt(k) == f.closer, d.byteAt(k) == ',', d.isKey(k), d.dots(k):
		return true, true
	case strings.ContainsRune(d.text[i:k], '\n') && f.closer == '\n':
		return true, true
	}
	if word := d.bareKey(k); word > k && f.schema != nil {
		next := d.byteAt(d.skipSpaces(word))
		if d.declares(f.schema, d.text[k:word]) && (next == ',' || next == f.closer) {
			return false, d.failAt("ambiguous", k, "%s: %s may be text or a name without a value; put the text in quotes", d.here(), quote(d.text[k:word]))
		}
	}
	return false, d.spend(0, i)
}

// gap reports whether an unquoted text ends at the spaces before k.
func (d *Ends) gap(k int, broken bool) (end, ok bool) {
	f := d.top()
	c := d.byteAt(k)
	if broken && f.closer == '\n' {
		// these spaces contain the end of the line
		return true, true
	}
	if k >= len(d.text) || c == f.closer || c == ',' {
		return false, true
	}
	name, key := d.keyAt(k)
	switch {
	case d.comment(k) > k:
		return false, d.failAt("ambiguous", k, "%s: it is not clear whether this is a comment or part of the text; put the text in quotes", d.here())
	case key && broken:
		return true, true
	case key && d.declared(name):
		return false, d.failAt("ambiguous", k, "%s: %s may be text or the next name; add the missing comma", d.here(), quote(name))
	case broken:
		return false, d.failAt("ambiguous", k, "%s: it is not clear where the unquoted text ends, because it contains a line break; put the text in quotes", d.here())
	}
	return false, d.spend(0, k)
}

// declared reports whether a name is declared by the open object or the tool.
func (d *Nesting) declared(name string) bool {
	return !d.top().list && d.declares(d.top().schema, name) || d.inputName(name)
}
