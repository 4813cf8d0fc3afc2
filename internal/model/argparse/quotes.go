package argparse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// quotes is a pair of quotes, and the language whose escapes are used between them.
type quotes struct {
	open, close string
	other       string // another closing quote
	python      bool
	yaml        bool // a doubled quote stands for one
}

var allQuotes = []quotes{
	{open: `"`, close: `"`},
	{open: `'`, close: `'`, python: true},
	{open: "`", close: "`", other: "´"},
	{open: "“", close: "”"},
	{open: "”", close: "”"},
	{open: "‘", close: "’"},
	{open: "’", close: "’"},
	{open: "„", close: "“", other: "”"},
	{open: "«", close: "»"},
	{open: "＂", close: "＂"},
	{open: gemmaQuote, close: gemmaQuote},
}

// yamlQuotes are single quotes in lines, where a doubled quote stands for a single one.
var yamlQuotes = quotes{open: "'", close: "'", python: true, yaml: true}

// gemmaQuote is the token that Gemma writes around texts.
const gemmaQuote = `<|"|>`

// doubleQuotes returns the quotes of JSON.
func doubleQuotes() *quotes { return &allQuotes[0] }

// quoteAt returns the quotes that open at i, or nil.
func (d *View) quoteAt(i int) *quotes {
	switch d.byteAt(i) {
	case '"':
		return &allQuotes[0]
	case '\'':
		return &allQuotes[1]
	case '`':
		return &allQuotes[2]
	case '<':
		if d.has(i, gemmaQuote) {
			return &allQuotes[len(allQuotes)-1]
		}
	case 0xe2, 0xc2, 0xef:
		for k := 3; k < len(allQuotes); k++ {
			if d.has(i, allQuotes[k].open) {
				return &allQuotes[k]
			}
		}
	}
	return nil
}

// closesAt returns the length of the closing quote at i, or 0.
func (d *View) closesAt(q *quotes, i int) int {
	switch {
	case d.text[i] != q.close[0] && (q.other == "" || d.text[i] != q.other[0]):
		return 0
	case d.has(i, q.close):
		return len(q.close)
	case q.other != "" && d.has(i, q.other):
		return len(q.other)
	}
	return 0
}

// nextClose returns the position and length of the first closing quote from i on that is not
// escaped. The length is 0 if there is none.
func (d *View) nextClose(q *quotes, i int) (at, size int) {
	for i < len(d.text) {
		if d.text[i] == '\\' {
			i += 2
			continue
		}
		if n := d.closesAt(q, i); n > 0 {
			if q.yaml && d.byteAt(i+1) == '\'' {
				i += 2
				continue
			}
			return i, n
		}
		i++
	}
	return len(d.text), 0
}

// quotedKey reads a name in quotes. A separator must follow.
func (d *parser) quotedKey(q *quotes) (string, bool) {
	start := d.pos
	body := start + len(q.open)
	end, size := d.nextClose(q, body)
	if size == 0 {
		return "", d.truncated()
	}
	after := d.skip(end + size)
	switch {
	case after >= len(d.text):
		return "", d.truncated()
	case !d.isSeparator(after) && !d.colonLost(d.text[body:end], after):
		code, what := "syntax", "the name %s is not followed by a colon and a value"
		if d.top().closer == ')' {
			code, what = "positional", "the value %s has no name; write name=value"
		}
		return "", d.failAt(code, start, what, quote(d.text[body:end]))
	}
	name, ok := d.unescape(q, body, end)
	if q.open != `"` {
		d.fix("quotes", start)
	}
	d.pos = end + size
	return name, ok
}

// quotedText reads a text in quotes. It ends at the first closing quote after which the call
// can continue. If this is not the first closing quote, the earlier ones are part of the text,
// which must have no other reading (unescaped_quotes.go).
func (d *parser) quotedText(s *Schema, q *quotes) (node, bool) {
	start := d.pos
	n := node{kind: quoted, off: d.at(start)}
	body := start + len(q.open)
	if q.open == "'" && len(d.open) > 0 && d.top().closer == '\n' && d.byteAt(body) != '\'' {
		q = &yamlQuotes
	}
	end, size := d.nextClose(q, body)
	if at, mixed := d.mixedClose(q, body, end, size); mixed > 0 {
		end, size = at, mixed
	}
	if size == 0 {
		return n, d.truncated()
	}
	if end == body && len(q.open) == 1 && d.has(end+size, q.open) {
		if q.open != "`" && !d.has(end+size+1, q.open) {
			return d.tripleQuoted(q)
		}
		return n, d.failAt("ambiguous", start, "%s: two quotes in a row may be an empty text or start one; write one quote", d.here())
	}
	if !d.continues(end + size) {
		if d.encoded(s, body) {
			return d.encodedValue(s, q)
		}
		if at, nested := d.nestedClose(q, body); nested > 0 && d.continues(at+nested) {
			end, size = at, nested
		} else if end, size = d.inner(s, q, body, end, size); size == 0 {
			return n, false
		}
		d.fix("unescaped-quote", start)
	}
	if q.open == "`" && strings.Contains(d.text[body:end], "${") {
		return n, d.failAt("code", start, "%s: ${...} in a template text is code, which is not evaluated", d.here())
	}
	text, ok := d.unescape(q, body, end)
	if q.yaml {
		text = strings.ReplaceAll(text, "''", "'")
	}
	n.text, n.exact = text, len(q.open) == 1 && len(text) == end-body
	if q.open != `"` {
		d.fix("quotes", start)
	}
	d.pos = end + size
	return n, ok && d.spend(0, start)
}

// continues reports whether the call can continue after a value that ends at i: with a comma
// and a member, a closing bracket, or the next name.
func (d *Ends) continues(i int) bool {
	if len(d.open) == 0 {
		return true
	}
	f := d.top()
	if f.closer == '\n' {
		return d.lineContinues(i)
	}
	k := d.skip(i)
	if b := d.skipSpaces(i); b < k && strings.IndexByte(d.text[b:k], d.text[i-1]) >= 0 {
		return false // a comment with such a quote may be part of the text
	}
	if k >= len(d.text) || d.text[k] == f.closer {
		return !strings.HasSuffix(d.text[:i], "”") || !d.has(k+1, "”") // else the text may be longer
	}
	if f.list {
		return d.itemContinues(i, k)
	}
	if n := d.commaAt(k); n > 0 {
		k = d.skip(k + n)
		if d.byteAt(k) == '\\' {
			k = d.escapedSpace(k)
		}
		c := d.byteAt(k)
		return k >= len(d.text) || c == f.closer || c == ',' || c == '*' || d.dots(k) || d.isKey(k) || d.cutKey(k)
	}
	if j := d.escapedSpace(k); j > k {
		return d.isKey(j) || d.byteAt(j) == f.closer && len(d.open) == 1 && d.lastQuote < j
	}
	return (k > i || d.quoteAt(k) != nil) && d.isKey(k)
}

// cutKey reports whether the text ends inside or right after the name at i.
func (d *View) cutKey(i int) bool {
	if len(d.text)-i > maxKey {
		return false
	}
	end := d.bareKey(i)
	if q := d.quoteAt(i); q != nil {
		at, size := d.nextClose(q, i+len(q.open))
		end = at + size
	}
	return end > i && d.skipSpaces(end) >= len(d.text)
}

// itemContinues reports whether an array can continue after an item that ends at i. k is the
// position after spaces and comments.
func (d *Ends) itemContinues(i, k int) bool {
	f := d.top()
	if d.text[k] == ',' {
		k = d.skip(k + 1)
		return k >= len(d.text) || !strings.ContainsRune("}])", rune(d.text[k])) || d.text[k] == f.closer
	}
	return k > i && (d.text[k] == '{' || d.text[k] == '[' || d.plainItem(i, k)) // two texts may be one text with quotes
}

// plainItem reports whether the comma between two simple words in double quotes is missing:
// "red" "dark-green". The first ends at i and the second starts at k. Other texts may be one
// text with quotes in it; in single quotes, Python would join them.
func (d *View) plainItem(i, k int) bool {
	if d.text[i-1] != '"' || d.text[k] != '"' {
		return false
	}
	from := i - 2
	for from >= 0 && isPlainByte(d.text[from]) {
		from--
	}
	to := k + 1
	for to < len(d.text) && isPlainByte(d.text[to]) {
		to++
	}
	d.Use(i - from + to - k)
	if from == i-2 || to == k+1 || from < 0 || d.text[from] != '"' || d.byteAt(to) != '"' {
		return false
	}
	next := d.skipSpaces(to + 1)
	return d.byteAt(next) == ',' || d.byteAt(next) == ']' || next > to+1 && d.byteAt(next) == '"'
}

func isPlainByte(c byte) bool { return isWordByte(c) || c == '-' || c == '.' || c == '/' }

// isKey reports whether a name and a separator are at i.
func (d *Names) isKey(i int) bool {
	_, ok := d.keyAt(i)
	return ok
}

// keyAt returns the name at i if a separator follows it.
func (d *Names) keyAt(i int) (string, bool) {
	if d.Exhausted() || i >= len(d.text) {
		return "", false
	}
	i = d.symbol(i)
	if d.prefixAt(i) != 0 {
		i++
	}
	body, end, after := i, i, i
	if q := d.quoteAt(i); q != nil {
		body = i + len(q.open)
		end = body
		size := 0
		for end < len(d.text) && end-body < maxKey && d.text[end] != '\n' && d.text[end] != '\\' && size == 0 {
			if size = d.closesAt(q, end); size == 0 {
				end++
			}
		}
		d.Use(end - i)
		if size == 0 {
			name, _, ok := d.looseKey(i)
			return name, ok
		}
		after = end + size
	} else {
		end = d.bareKey(i)
		if end == i || d.text[i] >= '0' && d.text[i] <= '9' || d.text[i] == '-' || d.text[i] == '.' {
			return "", false
		}
		after = end
	}
	if k := d.skipSpaces(after); d.isSeparator(k) || body > i && d.colonLost(d.text[body:end], k) {
		return d.text[body:end], true
	}
	if name, _, ok := d.looseKey(i); ok {
		return name, true
	}
	return d.text[body:end], false
}

// apostrophe reports whether the quote at i is between two letters.
func (d *View) apostrophe(i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(d.text[:i])
	after, _ := utf8.DecodeRuneInString(d.text[i+size:])
	return unicode.IsLetter(before) && unicode.IsLetter(after)
}
