package console

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// columns returns the width of a cleaned text on a terminal. What a person sees as one character
// counts once: joined emoji, flags, a letter with its accents.
func columns(s string) int { return displaywidth.String(s) }

// cut shortens a text to at most width columns. If it is shortened, it ends with end.
func cut(s string, width int, end string) string { return displaywidth.TruncateString(s, width, end) }

// pad fills a text with spaces to width columns.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-columns(s)))
}
