package tool

import (
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// Pos is a position in a file. Line and Col count from 1; Col counts characters. The zero Pos is an unknown position.
type Pos = diagnostic.Pos

// Text is a string from a file together with its position. An offset in the string, such as that of a placeholder or a
// shell word, can be converted to a line and column.
type Text = diagnostic.Text

// Value is a typed YAML value with its positions and its original text.
type Value = keytable.Value

// Entry is one key of a mapping. Mappings keep the order of the file.
type Entry = keytable.Entry

// Edit is one change to a file: Text replaces the bytes from offset From up to, but not including, To. Offsets count
// from 0 and include a byte order mark.
type Edit = diagnostic.Edit
