package lookahead

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// BareText returns the end of an unquoted text: a comma before a name, the closing bracket, or the end of the line. It
// refuses a text with more than one possible end.
func (d *Ends) BareText(i int) (int, bool) {
	f := d.Top()
	doubt := func(i int, why string) (int, bool) {
		return i, d.FailAt("ambiguous", i, "%s: it is not clear where the unquoted text ends, because it contains %s; put the text in quotes", d.Here(), why)
	}
	if name, ok := d.KeyAt(i); ok && d.declared(name) {
		return doubt(i, "the name "+report.Quote(name))
	}
	start, quotesInLine := i, false
	for i < len(d.Text) {
		c := d.Text[i]
		switch {
		case c == ',' && f.List:
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
			if name, ok := d.KeyAt(i + 1); ok && d.declared(name) {
				return doubt(i, "the name "+report.Quote(name))
			}
		case c == f.Closer && c != '\n':
			return i, true
		case c == '\n' && f.Closer == '\n':
			return i, true
		case d.IsCloser(i):
			return i, d.FailAt("syntax", i, "unexpected %q: it does not match the open bracket", c)
		case c == '(' && d.BareKey(max(i-1, 0)) > i-1, c == '{' && d.ByteAt(i-1) == '$':
			return i, d.FailAt("code", i, "%s: this may be code, which is not evaluated; put the text in quotes", d.Here())
		case c == '{' || c == '[' || c == '(':
			return doubt(i, "a bracket")
		case d.QuoteAt(i) != nil:
			size := len(d.QuoteAt(i).Open)
			if !d.Apostrophe(i, size) {
				if d.OpeningLost(start, i) {
					return i, true
				}
				if f.Closer != '\n' || c != '"' && c != '\'' || !d.pairsInLine(start) {
					return doubt(i, "a quote")
				}
				quotesInLine = true
			}
			i += size
			continue
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ';':
			k := d.SkipSpaces(i)
			if c == ';' {
				if k = d.SkipSpaces(i + 1); f.Closer == '\n' && d.LineEnd(d.SkipLineSpaces(i+1)) {
					return doubt(i, "a semicolon")
				}
			}
			end, ok := d.gap(k, strings.ContainsRune(d.Text[i:k], '\n'))
			if end || !ok {
				return i, ok
			}
			i = min(k, len(d.Text))
			continue
		}
		i++
	}
	return i, true
}

// BareWord returns the end of a value that is not text.
func (d *Ends) BareWord(i int) (int, bool) {
	for i < len(d.Text) {
		switch c := d.Text[i]; {
		case c == ',' || c == '\n' || d.IsCloser(i):
			return i, true
		case c == '(' || c == '{' || c == '[':
			return i, d.FailAt("code", i, "%s: this is code, which is not evaluated; write its value", d.Here())
		case d.QuoteAt(i) != nil:
			if c == '"' || c == '\'' {
				if d.IsKey(i) {
					return i, true
				}
			}
			return i, d.FailAt("ambiguous", i, "%s: an unquoted value contains a quote", d.Here())
		case c == ' ' || c == '\t' || c == '\r':
			k := d.SkipSpaces(i)
			if d.Comment(k) > k || d.IsKey(k) || d.ByteAt(k) == ',' || d.IsCloser(k) || d.inItems(k) {
				return i, true
			}
			i = k
			continue
		case d.Has(i, "/*") || d.Has(i, "//"):
			return i, true
		case c == '\\' && d.EscapedSpace(i) > i, d.CommaAt(i) == 3:
			return i, true
		case c == ';':
			if k := d.SkipSpaces(i + 1); !d.Top().List && (k >= len(d.Text) || d.IsKey(k) || d.ByteAt(k) == d.Top().Closer || d.ByteAt(k) == '\n') {
				return i, true
			}
			return i, d.FailAt("syntax", i, "%s: values are separated by commas, not by semicolons", d.Here())
		}
		i++
	}
	return i, true
}

// inItems reports whether another item may start at k without a comma.
func (d *Ends) inItems(k int) bool {
	c := d.ByteAt(k)
	return d.Top().List && (c >= '0' && c <= '9' || c == '"' || c == '{' || c == '[')
}

// OpeningLost reports whether the quote at i closes a text whose opening quote is missing. start is the start of the text.
// The name before it must have such quotes, the text must not contain others, and the next declared name or the end of the
// object must follow. A quote after a digit may be an inch sign.
func (d *Ends) OpeningLost(start, i int) bool {
	f := d.Top()
	if d.Text[i] != '"' || !f.List && f.Closer != '}' || d.Text[i-1] >= '0' && d.Text[i-1] <= '9' ||
		token.Invisible(rune(d.Text[i-1])) || strings.IndexByte(d.Text[start:i], '\\') >= 0 {
		return false
	}
	if f.List {
		return d.itemOpeningLost(start, i)
	}
	sep := d.Back(start)
	if gap := d.Text[sep+1 : start]; gap != "" && (gap != " " || !d.SpacedColons()) {
		return false // the space may be part of the text
	}
	if d.ByteAt(sep) != ':' || d.ByteAt(d.Back(sep)) != '"' {
		return false
	}
	if d.memberFollows(i + 1) {
		return true
	}
	k := d.SkipSpaces(i + 1)
	return d.ByteAt(k) == '}' && len(d.Open) == 1 && d.lastQuote <= i
}

// itemOpeningLost is OpeningLost for an item of an array.
func (d *Ends) itemOpeningLost(start, i int) bool {
	before := d.Back(start)
	if gap := d.Text[before+1 : start]; gap != "" && !strings.Contains(gap, "\n") && (gap != " " || !d.SpacedColons()) {
		return false
	}
	k := d.SkipSpaces(i + 1)
	if d.ByteAt(k) == ',' {
		return d.ByteAt(d.SkipSpaces(k+1)) == '"' && d.ByteAt(before) == '['
	}
	return d.ByteAt(k) == ']' && d.ByteAt(before) == ',' && d.ByteAt(d.Back(before)) == '"'
}

// pairsInLine reports whether the quotes in the rest of a line are paired.
func (d *Ends) pairsInLine(i int) bool {
	end := d.EndOfLine(i)
	return d.Spend(end-i, i) && !d.OddQuotes(i, end)
}

// comma reports whether an unquoted text ends at the comma at i.
func (d *Ends) comma(i int) (end, ok bool) {
	f := d.Top()
	k := d.SkipSpaces(i + 1)
	if k >= len(d.Text) || d.ByteAt(k) == f.Closer || d.ByteAt(k) == ',' || d.IsKey(k) || d.Dots(k) ||
		f.Closer == '\n' && strings.Contains(d.Text[i:k], "\n") {
		return true, true
	}
	if word := d.BareKey(k); word > k && f.Schema != nil {
		next := d.ByteAt(d.SkipSpaces(word))
		if d.Declares(f.Schema, d.Text[k:word]) && (next == ',' || next == f.Closer) {
			return false, d.FailAt("ambiguous", k, "%s: %s may be text or a name without a value; put the text in quotes", d.Here(), report.Quote(d.Text[k:word]))
		}
	}
	return false, d.Spend(0, i)
}

// gap reports whether an unquoted text ends at the spaces before k.
func (d *Ends) gap(k int, broken bool) (end, ok bool) {
	f, c := d.Top(), d.ByteAt(k)
	if broken && f.Closer == '\n' || k >= len(d.Text) || c == f.Closer || c == ',' {
		return broken && f.Closer == '\n', true // the end of the line
	}
	name, key := d.KeyAt(k)
	switch {
	case d.Comment(k) > k:
		return false, d.FailAt("ambiguous", k, "%s: it is not clear whether this is a comment or part of the text; put the text in quotes", d.Here())
	case key && broken:
		return true, true
	case key && d.declared(name):
		return false, d.FailAt("ambiguous", k, "%s: %s may be text or the next name; add the missing comma", d.Here(), report.Quote(name))
	case broken:
		return false, d.FailAt("ambiguous", k, "%s: it is not clear where the unquoted text ends, because it contains a line break; put the text in quotes", d.Here())
	}
	return false, d.Spend(0, k)
}

// Ellipsis reports whether dots replace omitted content.
func Ellipsis(s string) bool {
	return strings.HasPrefix(s, "...") || strings.HasSuffix(s, "...") || strings.Contains(s, "…")
}
