package token

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
)

// BareKey returns the end of the unquoted name at i, or i.
func (d *View) BareKey(i int) int {
	end := i
	for end < len(d.Text) && end-i < MaxKey {
		c, size := utf8.DecodeRuneInString(d.Text[end:])
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.Is(unicode.Mn, c) && c != '_' && c != '-' && c != '$' && c != '.' || c == utf8.RuneError {
			break
		}
		end += size
	}
	d.Use(end - i)
	return end
}

// MaxKey limits the length of names in lookahead, in bytes.
const MaxKey = 256

// Symbol skips the colon of a Ruby symbol at i, as in :name =>.
func (d *View) Symbol(i int) int {
	if d.ByteAt(i) != ':' {
		return i
	}
	end := d.BareKey(i + 1)
	if end > i+1 && d.Has(d.SkipSpaces(end), "=>") {
		return i + 1
	}
	return i
}

// IsSeparator reports whether a separator between a name and its value is at i. The colon of a URL and the operators of
// code are not separators.
func (d *View) IsSeparator(i int) bool { return d.SeparatorAt(i) > 0 }

// SeparatorAt returns the length of the separator at i, or 0. A doubled separator (::, := or ": :") requires a value that
// cannot be unquoted text.
func (d *View) SeparatorAt(i int) int {
	switch c := d.ByteAt(i); c {
	case ':':
		next := d.ByteAt(i + 1)
		if d.Has(i, "://") {
			return 0
		}
		if next == ':' || next == '=' {
			if d.Definite(d.SkipLineSpaces(i + 2)) {
				return 2
			}
			return 0
		}
		if next == ' ' && (d.ByteAt(i+2) == ':' || d.ByteAt(i+2) == '=') && d.Definite(d.SkipLineSpaces(i+3)) {
			return 3
		}
		return 1
	case '=':
		switch d.ByteAt(i + 1) {
		case '=', '~':
			return 0
		case '>':
			return 2
		}
		return 1
	case 0xef: // the fullwidth colon of a Chinese keyboard
		if d.Has(i, "\uff1a") && d.Definite(d.SkipLineSpaces(i+3)) {
			return 3
		}
	}
	return 0
}

// Definite reports whether a value that cannot be unquoted text starts at i: a quote, a bracket, a digit or a literal.
func (d *View) Definite(i int) bool {
	switch c := d.ByteAt(i); {
	case c == '{' || c == '[' || c >= '0' && c <= '9' || c == '-' && node.Digits(d.Text[i+1:]) > 0:
		return true
	case d.QuoteAt(i) != nil:
		return true
	}
	word := d.Text[i:d.BareKey(i)]
	return slices.Contains(literals, word)
}

var literals = []string{"true", "false", "null", "True", "False", "None"}

// CommaAt returns the length of the separator between members at i, or 0: a comma, a fullwidth comma or a semicolon.
func (d *View) CommaAt(i int) int {
	switch c := d.ByteAt(i); {
	case c == ',' || c == ';':
		return 1
	case c == 0xef && d.Has(i, "\uff0c"):
		return 3
	}
	return 0
}

// SpacedColons reports whether one space follows every colon after a name, and there are at least two.
func (d *View) SpacedColons() bool {
	d.Use(len(d.Text))
	all := strings.Count(d.Text, `":`)
	return all > 1 && all == strings.Count(d.Text, `": `)
}

// CutKey reports whether the text ends inside or right after the name at i.
func (d *View) CutKey(i int) bool {
	if len(d.Text)-i > MaxKey {
		return false
	}
	end := d.BareKey(i)
	if q := d.QuoteAt(i); q != nil {
		at, size := d.NextClose(q, i+len(q.Open))
		end = at + size
	}
	return end > i && d.SkipSpaces(end) >= len(d.Text)
}

// CurlyName reports whether the name before the value at i has typographic quotes.
func (d *View) CurlyName(i int) bool {
	sep := d.Back(i)
	before := strings.TrimRight(d.Text[max(0, sep-MaxKey):sep], " ")
	if !d.IsSeparator(sep) || strings.HasSuffix(before, "”") {
		return d.IsSeparator(sep)
	}
	name, plain := strings.CutSuffix(before, `"`)
	open := strings.LastIndex(name, "“")
	return plain && open >= 0 && !strings.ContainsAny(name[open:], " \",")
}
