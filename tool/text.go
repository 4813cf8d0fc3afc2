package tool

import (
	"github.com/flowrun/flowrun/internal/diagnostic"
	"github.com/flowrun/flowrun/internal/keytable"
)

// MaxFileSize is the largest definition file that is read, in bytes.
const MaxFileSize = diagnostic.MaxFileSize

// Pos is a place in a file: Line and Col count from 1, Col counts characters.
// The zero Pos means the place is not known.
type Pos = diagnostic.Pos

// PosAt is the place of a byte of a file.
func PosAt(name string, file []byte, at int) Pos { return diagnostic.PosAt(name, file, at) }

// Text is a string as written together with its place, so that an offset in
// the string (of a hole, of a shell word) leads back to a line and column.
type Text = diagnostic.Text

// Plain is a text without a place, for definitions made in Go.
func Plain(s string) Text { return diagnostic.Plain(s) }

// Value is a YAML value as written, typed, with places.
type Value = keytable.Value

// Entry is one key of a mapping in written order.
type Entry = keytable.Entry

// Edit is one change to a file: its bytes From to To (from 0, To not included) become
// Text. Offsets are those of the whole file, with a byte order mark if it has one.
type Edit = diagnostic.Edit

// Apply is text with the edits made. It answers false, and makes none, where they
// overlap or stand outside of the text.
func Apply(text []byte, edits []Edit) ([]byte, bool) { return diagnostic.Apply(text, edits) }

// Near is the candidates closest to a misspelt word, best first, for a
// did-you-mean: at most three, and none whose Damerau-Levenshtein distance is
// more than a third of the word, or the whole of a short one.
func Near(word string, candidates []string) []string { return diagnostic.Near(word, candidates) }
