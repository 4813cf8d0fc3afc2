package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// PlainItem reports whether the comma between two simple words in double quotes is missing:
// "red" "dark-green". The first ends at i and the second starts at k. Other texts may be one
// text with quotes in it; in single quotes, Python would join them.
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
