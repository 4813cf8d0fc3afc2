// Package textdiff compares two texts line by line. It takes the texts and their names for the
// header, and returns what diff -u prints; it reads and writes no files.
package textdiff

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Unified returns the change from before to after, "" if they are equal. Lines that occur once in
// both texts anchor the comparison, so its cost is near that of reading the texts.
func Unified(from, before, to, after string) string {
	_, text, _ := strings.Cut(string(diff.Diff(from, []byte(before), to, []byte(after))), "\n") // the first line is a command
	return text
}
