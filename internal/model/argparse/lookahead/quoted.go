package lookahead

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// Doubtful refuses a text whose end is not clear.
func (d *Ends) Doubtful(i int) (int, int) {
	d.FailAt("ambiguous", i, `%s: it is not clear where the text ends; write quotes inside it as \"`, d.Here())
	return 0, 0
}

// ClosingQuote finds the end of a text that contains unescaped quotes. The first of them is at end. The closing quote is
// the one before a declared name or the end of the open object. Texts with a second reading are refused:
//
//   - the text contains a name with a separator: a quote may be missing before it;
//   - it contains an odd number of quotes, apart from apostrophes and inch signs, or a quote
//     that should open a pair but looks like a closing one;
//   - a later quote could close it as well.
func (d *Ends) ClosingQuote(s *schema.Schema, q *token.Quotes, body, end, size int) (int, int) {
	first := end
	if code, why := d.notInner(s, end+size); code != "" {
		d.FailAt(code, first, "%s: %s", d.Here(), why)
		return 0, 0
	}
	count, previous := 0, body
	for size > 0 && d.Spend(end-previous+1, body) {
		switch next := d.after(end + size); next {
		case lostName:
			if d.mayBeName(d.Text[previous:end]) {
				return d.Doubtful(first)
			}
		case doubt:
			return d.Doubtful(first)
		case nextName, closes:
			if count%2 != 0 || next == closes && d.later(q, end+size) {
				return d.Doubtful(first)
			}
			return end, size
		}
		if !d.Apostrophe(end, size) && !d.Inch(end, size) && !(openTypographic(d.Text[previous:end]) && d.ClosesPair(end, size)) {
			if count%2 == 0 && !d.OpensPair(end, size) || count%2 == 1 && !d.ClosesPair(end, size) {
				return d.Doubtful(first)
			}
			count++
		}
		previous = end + size
		end, size = d.NextClose(q, previous)
	}
	if d.Bad == nil && !strings.ContainsAny(d.Text[d.Back(len(d.Text)):], "}])>`") {
		d.Truncated()
	}
	return d.Doubtful(first)
}

// notInner returns the error for text after a closing quote that rules out unescaped quotes.
func (d *Ends) notInner(s *schema.Schema, i int) (code, why string) {
	k := d.SkipSpaces(i)
	c := d.ByteAt(k)
	closer, text := d.IsCloser(k), s.Free() || s.Allows("string")
	switch {
	case c == ':' || c == '=':
		return "syntax", "unexpected " + string(c) + " after a text"
	case c == '+' || c == '%' || d.Has(k, ".format") || d.Has(k, ".join") || c == '.' && k == i && d.ByteAt(k+1) >= 'a':
		return "code", "joining texts is code, which is not evaluated; write the whole text"
	case closer && (!text || d.lastQuote < k):
		return "syntax", "the bracket " + string(c) + " does not match the open bracket"
	case !text:
		return "ambiguous", "it is not clear where the value ends"
	}
	return "", ""
}

// later reports whether a quote after i could close the text as well.
func (d *Ends) later(q *token.Quotes, i int) bool {
	for {
		end, size := d.NextClose(q, i)
		if !d.Spend(end-i+1, i) {
			return true
		}
		if size == 0 {
			return false
		}
		switch d.after(end + size) {
		case lostName, nextName:
			return false
		case closes, doubt:
			return true
		}
		i = end + size
	}
}

// MixedClose finds the end of a text with two kinds of quotes: "text” or “text". It is the first quote of the other kind,
// if the next member follows and the text has no closing quote of its own kind. n is 0 for none.
func (d *Ends) MixedClose(q *token.Quotes, body, end, size int) (at, n int) {
	other := ""
	switch {
	case q.Open == `"`:
		other = "”"
	case q.Open == "“" && d.CurlyName(body-len(q.Open)): // otherwise a plain quote may be missing before it
		other = `"`
	default:
		return 0, 0
	}
	if len(d.Open) == 0 || d.Top().Closer == '\n' || size > 0 && d.Continues(end+size) {
		return 0, 0
	}
	d.Use(end - body)
	text, _, found := strings.Cut(d.Text[body:end], other)
	last, _ := utf8.DecodeLastRuneInString(text)
	if !found || strings.Contains(text, "“") || strings.Contains(text, "„") || !unicode.IsLetter(last) && !unicode.IsDigit(last) {
		return 0, 0
	}
	if at = body + len(text); d.memberFollows(at + len(other)) {
		return at, len(other)
	}
	return 0, 0
}

// openTypographic reports whether a text ends inside a typographic quote: Das „Haus.
func openTypographic(s string) bool {
	open := max(strings.LastIndex(s, "„"), strings.LastIndex(s, "“"))
	return open >= 0 && open > strings.LastIndex(s, "”")
}

// DoubledQuotes returns the doubled quotes of a text at i, as in ""name"": ""text"". The name before it must have them too.
// It returns nil for an empty text.
func (d *Ends) DoubledQuotes(i int) *token.Quotes {
	if d.doubled == "" || !d.Has(i, d.doubled) {
		return nil
	}
	shut := d.doubled
	if shut == "``" {
		shut = "''" // as in TeX
	}
	if end := strings.Index(d.Text[i+2:], shut); end <= 0 || !d.Continues(i+2+end+2) {
		return nil
	}
	return &token.Quotes{Open: d.doubled, Close: shut}
}

// Encoded reports whether the text at body is JSON in a string with unescaped quotes, where the schema declares an array or
// object: "["a", "b"]".
func (d *Ends) Encoded(s *schema.Schema, body int) bool {
	if s.Free() || s.Allows("string") {
		return false
	}
	switch d.ByteAt(d.SkipSpaces(body)) {
	case '[':
		return s.Allows("array")
	case '{':
		return s.Allows("object")
	}
	return false
}
