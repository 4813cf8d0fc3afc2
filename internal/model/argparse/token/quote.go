package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quotes is a pair of quotes, and the language whose escapes are used between them.
type Quotes struct {
	Open, Close string
	other       string // another closing quote
	Python      bool
	Yaml        bool // a doubled quote stands for one
}

var allQuotes = []Quotes{
	{Open: `"`, Close: `"`},
	{Open: `'`, Close: `'`, Python: true},
	{Open: "`", Close: "`", other: "´"},
	{Open: "“", Close: "”"},
	{Open: "”", Close: "”"},
	{Open: "‘", Close: "’"},
	{Open: "’", Close: "’"},
	{Open: "„", Close: "“", other: "”"},
	{Open: "«", Close: "»"},
	{Open: "＂", Close: "＂"},
	{Open: escapeTag, Close: escapeTag},
	{Open: gemmaQuote, Close: gemmaQuote},
}

// The tokens that models of the Gemma family write around texts.
const (
	gemmaQuote = `<|"|>`
	escapeTag  = `<escape>`
)

// DoubleQuotes returns the quotes of JSON.
func DoubleQuotes() *Quotes { return &allQuotes[0] }

// QuoteAt returns the quotes that open at i, or nil.
func (d *View) QuoteAt(i int) *Quotes {
	switch d.ByteAt(i) {
	case '"':
		return &allQuotes[0]
	case '\'':
		return &allQuotes[1]
	case '`':
		return &allQuotes[2]
	case '<':
		switch last := len(allQuotes) - 1; {
		case d.Has(i, gemmaQuote):
			return &allQuotes[last]
		case d.Has(i, escapeTag):
			return &allQuotes[last-1]
		}
	case 0xe2, 0xc2, 0xef:
		for k := 3; k < len(allQuotes); k++ {
			if d.Has(i, allQuotes[k].Open) {
				return &allQuotes[k]
			}
		}
	}
	return nil
}

// ClosesAt returns the length of the closing quote at i, or 0.
func (d *View) ClosesAt(q *Quotes, i int) int {
	switch {
	case d.Text[i] != q.Close[0] && (q.other == "" || d.Text[i] != q.other[0]):
		return 0
	case d.Has(i, q.Close):
		return len(q.Close)
	case q.other != "" && d.Has(i, q.other):
		return len(q.other)
	}
	return 0
}

// NextClose returns the position and length of the first closing quote from i on that is not escaped. The length is 0 if
// there is none.
func (d *View) NextClose(q *Quotes, i int) (at, size int) {
	for i < len(d.Text) {
		if d.Text[i] == '\\' {
			i += 2
			continue
		}
		if n := d.ClosesAt(q, i); n > 0 {
			if q.Yaml && d.ByteAt(i+1) == '\'' {
				i += 2
				continue
			}
			return i, n
		}
		i++
	}
	return len(d.Text), 0
}

// NestedClose returns the closing quote that balances the opening one, in a text with nested typographic quotes.
func (d *View) NestedClose(q *Quotes, body int) (at, size int) {
	if q.Open == q.Close || len(q.Open) == 1 {
		return 0, 0
	}
	depth := 1
	for i := body; i < len(d.Text); {
		switch n := d.ClosesAt(q, i); {
		case n > 0:
			if depth--; depth == 0 {
				d.Use(i - body)
				return i, n
			}
			i += n
		case d.Has(i, q.Open):
			depth++
			i += len(q.Open)
		default:
			i++
		}
	}
	d.Use(len(d.Text) - body)
	return 0, 0
}

// StrayQuotes returns the number of equal quotes at i, at most two, and the position after them.
func (d *View) StrayQuotes(i int) (end, count int) {
	c := d.ByteAt(i)
	if c != '"' && c != '\'' && c != '`' {
		return i, 0
	}
	if d.ByteAt(i+1) == c {
		return i + 2, 2
	}
	return i + 1, 1
}

// PrefixAt returns the prefix of a Python string at i: r"\d", u"x", f"x". It returns 0 for none. Bytes (b"x") are not text.
func (d *View) PrefixAt(i int) byte {
	c := d.ByteAt(i) | 0x20
	if q := d.ByteAt(i + 1); (c == 'r' || c == 'u' || c == 'f') && (q == '"' || q == '\'') {
		return c
	}
	return 0
}

// OddQuotes reports whether a part of the text has unpaired quotes.
func (d *View) OddQuotes(i, end int) bool {
	double, single := 0, 0
	for ; i < end; i++ {
		switch {
		case d.Text[i] == '"':
			double++
		case d.Text[i] == '\'' && !d.Apostrophe(i, 1):
			single++
		}
	}
	return double%2+single%2 > 0
}

// Apostrophe reports whether the quote at i is between two letters.
func (d *View) Apostrophe(i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(d.Text[:i])
	after, _ := utf8.DecodeRuneInString(d.Text[i+size:])
	return unicode.IsLetter(before) && unicode.IsLetter(after)
}

// OpensPair reports whether the quote at i looks like the first of a pair.
func (d *View) OpensPair(i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(d.Text[:i])
	after, _ := utf8.DecodeRuneInString(d.Text[i+size:])
	return !unicode.IsLetter(before) && !unicode.IsDigit(before) && !Invisible(after) && !strings.ContainsRune(",;.:=}])", after)
}

// ClosesPair reports whether the quote at i looks like the second of a pair.
func (d *View) ClosesPair(i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(d.Text[:i])
	after, _ := utf8.DecodeRuneInString(d.Text[i+size:])
	return !Invisible(before) && !strings.ContainsRune(",([{:=", before) && !unicode.IsLetter(after) && !unicode.IsDigit(after)
}

// Inch reports whether the quote at i is an inch sign, as in 5" wide.
func (d *View) Inch(i, size int) bool {
	after, _ := utf8.DecodeRuneInString(d.Text[min(i+size+1, len(d.Text)):])
	return i > 0 && d.Text[i-1] >= '0' && d.Text[i-1] <= '9' && d.ByteAt(i+size) == ' ' && unicode.IsLetter(after)
}

// PlainItem reports whether the comma between two simple words in double quotes is missing: "red" "dark-green". The first
// ends at i and the second starts at k. Other texts may be one text with quotes in it; in single quotes, Python would join
// them.
func (d *View) PlainItem(i, k int) bool {
	if d.Text[i-1] != '"' || d.Text[k] != '"' {
		return false
	}
	from := i - 2
	for from >= 0 && isPlainByte(d.Text[from]) {
		from--
	}
	to := k + 1
	for to < len(d.Text) && isPlainByte(d.Text[to]) {
		to++
	}
	d.Use(i - from + to - k)
	if from == i-2 || to == k+1 || from < 0 || d.Text[from] != '"' || d.ByteAt(to) != '"' {
		return false
	}
	next := d.SkipSpaces(to + 1)
	return d.ByteAt(next) == ',' || d.ByteAt(next) == ']' || next > to+1 && d.ByteAt(next) == '"'
}

func isPlainByte(c byte) bool { return IsWordByte(c) || c == '-' || c == '.' || c == '/' }
