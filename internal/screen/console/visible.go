package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns a text on which a person can rely: every character that could move the cursor,
// reorder the line, look like another one or be invisible is written out, as in <U+202E>. That
// includes characters that Clean keeps for readability, such as letters of right-to-left
// scripts, because people base decisions on this text.
func Visible(s string) string { return visible(s, "") }

// Quote returns Visible in quotes. It escapes quotes, backslashes, line breaks and tabs.
func Quote(s string) string { return `"` + visible(s, `"\`) + `"` }

// visible writes out characters. It puts a backslash before those in escape; if escape is not
// empty, line breaks and tabs become \n and \t.
func visible(s, escape string) string {
	var b strings.Builder
	marks := 0 // combining marks on the current character
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				fmt.Fprintf(&b, "<%02X>", s[i]) // invalid UTF-8
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
		case deceptive(r), marks > maxMarks, marks > 0 && i == 0:
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// maxMarks is how many accents a letter may have. More of them extend into other lines.
const maxMarks = 2

// rightToLeft are the right-to-left scripts, which terminals may reorder.
var rightToLeft = []*unicode.RangeTable{unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko,
	unicode.Samaritan, unicode.Mandaic, unicode.Adlam, unicode.Hanifi_Rohingya, unicode.Mende_Kikakui, unicode.Yezidi,
	unicode.Imperial_Aramaic, unicode.Phoenician, unicode.Lydian, unicode.Avestan, unicode.Old_Turkic}

// deceptive reports whether a character may be invisible or look like another one.
func deceptive(r rune) bool {
	switch {
	case r == ' ':
		return false
	case !unicode.IsPrint(r), // control, format, unassigned, private; all spaces except U+0020
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector),
		r == 0x2800: // a Braille pattern without a dot
		return true
	}
	return r >= 0x590 && unicode.In(r, rightToLeft...)
}

// strangeCharacters lists the non-ASCII characters of a name with their numbers, each once and
// at most ten, because they may look like others. It returns "" if there are none.
func strangeCharacters(name string) string {
	var list []string
	for _, r := range name {
		if word := fmt.Sprintf("%s U+%04X", Quote(string(r)), r); r >= 0x80 && len(list) < 10 && !strings.Contains(strings.Join(list, " "), word) {
			list = append(list, word)
		}
	}
	return strings.Join(list, ", ")
}

// Block returns text as an indented block with invisible characters made visible.
func Block(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = "  " + VisibleLine(line)
	}
	return strings.Join(lines, "\n")
}

// VisibleLine returns a line with invisible characters made visible. Tabs, which indent much of
// what is edited, become arrows.
func VisibleLine(line string) string {
	cells := strings.Split(line, "\t")
	for i := range cells {
		cells[i] = Visible(cells[i])
	}
	return strings.Join(cells, "→   ")
}
