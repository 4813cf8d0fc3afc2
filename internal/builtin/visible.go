package builtin

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible is a text as somebody may rely on it who decides by it: characters that move the
// cursor, turn the order of others around or are not seen at all are written out, as in
// <U+202E>. Line breaks and tabs stay.
func visible(s string) string {
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<%02X>", s[i])
		case r == '\n', r == '\t', unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// oneLine is a text in one line: every run of white space is one blank, and characters
// that are not seen are left out.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// short is a text in one line, and not longer than so many bytes.
func short(s string, most int) string {
	s, cut := upTo(oneLine(s), most)
	if cut {
		s += "…"
	}
	return s
}

// upTo is at most the first bytes of a text, cut between characters, and whether it was.
func upTo(s string, most int) (string, bool) {
	if len(s) <= most {
		return s, false
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most], true
}
