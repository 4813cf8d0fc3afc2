package builtin

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns a text that a person can safely judge: characters that move the cursor, change the order of others
// or are invisible are written out, as in <U+202E>. Line breaks and tabs stay.
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

// oneLine returns a text on one line: white space becomes single spaces, and invisible characters are left out.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// short returns a text on one line, cut to at most that many bytes.
func short(s string, most int) string {
	s, cut := upTo(oneLine(s), most)
	if cut {
		s += "…"
	}
	return s
}

// upTo returns at most the first most bytes of a text, cut between characters, and whether it was cut.
func upTo(s string, most int) (string, bool) {
	if len(s) <= most {
		return s, false
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most], true
}
