// Package textdiff compares two texts line by line. It takes the texts and the names that
// they have in the header, and answers what diff -u prints; it reads and writes nothing.
package textdiff

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Unified is the change from one text to another, "" where they are equal. Lines that occur
// once in both hold the rest in place, so that its cost is near that of reading the texts.
func Unified(from, before, to, after string) string {
	_, text, _ := strings.Cut(string(diff.Diff(from, []byte(before), to, []byte(after))), "\n") // its first line is a command
	return text
}
