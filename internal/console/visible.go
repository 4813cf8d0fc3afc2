package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is a text as a person may rely on it: every character that could move the
// cursor, reorder the line, stand for another or not be seen at all is written out, as
// in <U+202E>. What Clean lets through for the sake of reading, such as letters that are
// written from right to left, is written out too: this is for decisions.
func Visible(s string) string { return visible(s, "") }

// Quote is Visible in quotes, where a quote, a backslash, a line break and a tab inside
// are escaped.
func Quote(s string) string { return `"` + visible(s, `"\`) + `"` }

// visible writes characters out; a backslash is put before those in escape, which also
// turns line breaks and tabs into \n and \t.
func visible(s, escape string) string {
	var b strings.Builder
	marks := 0 // on the character before
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				fmt.Fprintf(&b, "<%02X>", s[i]) // no UTF-8
				continue
			}
		}
		if marks++; !unicode.Is(unicode.M, r) {
			marks = 0
		}
		switch {
		case escape != "" && r == '\n':
			b.WriteString(`\n`)
		case escape != "" && r == '\t':
			b.WriteString(`\t`)
		case strings.ContainsRune(escape, r):
			b.WriteString(`\` + string(r))
		case unseen(r), marks > maxMarks, marks > 0 && i == 0:
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// maxMarks is how many accents a letter may have. More run into other lines.
const maxMarks = 2

// fromTheRight are the scripts that terminals may reorder.
var fromTheRight = []*unicode.RangeTable{unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko,
	unicode.Samaritan, unicode.Mandaic, unicode.Adlam, unicode.Hanifi_Rohingya, unicode.Mende_Kikakui, unicode.Yezidi,
	unicode.Imperial_Aramaic, unicode.Phoenician, unicode.Lydian, unicode.Avestan, unicode.Old_Turkic}

// unseen says whether a character cannot be relied on to look like itself.
func unseen(r rune) bool {
	switch {
	case r == ' ':
		return false
	case !unicode.IsPrint(r), // control, format, unassigned, private; blanks that are not the blank
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector),
		r == 0x2800: // a Braille pattern without a dot
		return true
	}
	return r >= 0x590 && unicode.In(r, fromTheRight...)
}

// strange are the characters of a name that are not ASCII, each once, with their
// numbers: they may look like others. "" for none.
func strange(name string) string {
	var list []string
	for _, r := range name {
		if word := fmt.Sprintf("%s U+%04X", Quote(string(r)), r); r >= 0x80 && len(list) < 10 && !strings.Contains(strings.Join(list, " "), word) {
			list = append(list, word)
		}
	}
	return strings.Join(list, ", ")
}
