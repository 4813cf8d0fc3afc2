package console

import (
	"strings"
	"unicode"
)

// wide are the characters that take two columns of a terminal: East Asian ones
// and emoji.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x2329, 0x232a, 1}, {0x23e9, 0x23ec, 1}, {0x2614, 0x2615, 1},
		{0x26a1, 0x26a1, 1}, {0x2705, 0x2705, 1}, {0x274c, 0x274c, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0xa4cf, 1},
		{0xa960, 0xa97f, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f900, 0x1faff, 1}, {0x20000, 0x3fffd, 1},
	},
}

// columns is how many columns a cleaned text takes on a terminal.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// cut is a text of at most width columns. Where it is shortened, end stands for
// the rest.
func cut(s string, width int, end string) string {
	if columns(s) <= width {
		return s
	}
	left := width - columns(end)
	for i, r := range s {
		if left -= runeColumns(r); left < 0 {
			return s[:i] + end
		}
	}
	return s
}

// pad fills a text with blanks to width columns.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-columns(s)))
}
