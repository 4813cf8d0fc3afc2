package tooltest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

const (
	maxLines = 20  // of a diff
	widest   = 200 // characters of a line that are shown
)

// difference is the lines of two texts that differ: what both begin and end with is
// left out. At most mostLines are shown, of each side at least half of them.
func difference(expected, got string) []string {
	a, b := lines(expected), lines(got)
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	for len(a) > from && len(b) > from && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	a, b = a[from:], b[from:]
	room := max(maxLines/2, maxLines-len(b))
	diff := []string{fmt.Sprintf("@@ line %d", from+1)}
	diff = append(diff, side("- ", a, room)...)
	return append(diff, side("+ ", b, maxLines-min(room, len(a)))...)
}

// side is one side's lines, the first ones where there are too many.
func side(sign string, list []string, room int) []string {
	var shownLines []string
	for i, line := range list {
		if i == room {
			return append(shownLines, fmt.Sprintf("%s... and %d more lines", sign, len(list)-room))
		}
		shownLines = append(shownLines, sign+shown(line))
	}
	return shownLines
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// shown is a line as it may stand on a terminal: quoted where something in it could
// not be seen, and cut where it is long.
func shown(line string) string {
	if runes := []rune(line); len(runes) > widest {
		line = string(runes[:widest]) + "..."
	}
	hidden := func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }
	if strings.ContainsFunc(line, hidden) || strings.TrimRight(line, " \t") != line {
		return strconv.Quote(line)
	}
	return line
}

// tail is the last lines of a text.
func tail(text string, n int) []string {
	list := lines(strings.TrimRight(text, "\n"))
	list = list[max(0, len(list)-n):]
	for i := range list {
		list[i] = shown(list[i])
	}
	return list
}

// trimmed is an output without its last line end, as references see it.
func trimmed(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r") }
