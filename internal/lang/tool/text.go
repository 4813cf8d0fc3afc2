package tool

import (
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// MaxFileSize is the maximum size of a definition file, in bytes.
const MaxFileSize = diagnostic.MaxFileSize

// Pos is a position in a file. Line and Col count from 1; Col counts characters. The zero Pos is an unknown position.
type Pos = diagnostic.Pos

// PosAt returns the position of the byte at the given offset of a file.
func PosAt(name string, file []byte, at int) Pos { return diagnostic.PosAt(name, file, at) }

// Text is a string from a file together with its position. An offset in the string, such as that of a placeholder or a
// shell word, can be converted to a line and column.
type Text = diagnostic.Text

// Plain returns a text without a position, for definitions made in Go.
func Plain(s string) Text { return diagnostic.Plain(s) }

// Value is a typed YAML value with its positions and its original text.
type Value = keytable.Value

// Entry is one key of a mapping. Mappings keep the order of the file.
type Entry = keytable.Entry

// Edit is one change to a file: Text replaces the bytes from offset From up to, but not including, To. Offsets count
// from 0 and include a byte order mark.
type Edit = diagnostic.Edit

// Apply returns text with the edits applied. It returns false, and applies none, if edits overlap or are outside the
// text.
func Apply(text []byte, edits []Edit) ([]byte, bool) { return diagnostic.Apply(text, edits) }

// Near returns the candidates most similar to a misspelled word, best first, for a did-you-mean: at most three. Their
// Damerau-Levenshtein distance is at most a third of the word's length (but at least 1 is allowed), and less than the
// length of the longer word.
func Near(word string, candidates []string) []string { return diagnostic.Near(word, candidates) }
