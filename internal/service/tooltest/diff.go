package tooltest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/flowrun/flowrun/internal/screen/console"
)

const (
	maxLines      = 20  // of a diff
	maxLineLength = 200 // characters of a line that are shown
)

// difference returns the lines that differ between two texts, without their common
// beginning and end. It shows at most maxLines, and at least half of them for each side.
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

// side formats the lines of one side, only the first ones if there are too many.
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

// shown formats a line for a terminal: quoted if it contains something invisible, and
// shortened if it is long.
func shown(line string) string {
	if runes := []rune(line); len(runes) > maxLineLength {
		line = string(runes[:maxLineLength]) + "..."
	}
	hidden := func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }
	if strings.ContainsFunc(line, hidden) || strings.TrimRight(line, " \t") != line {
		return strconv.Quote(line)
	}
	return line
}

// tail returns the last n lines of a text.
func tail(text string, n int) []string {
	list := lines(strings.TrimRight(text, "\n"))
	list = list[max(0, len(list)-n):]
	for i := range list {
		list[i] = shown(console.OutputLine(list[i]))
	}
	return list
}
