package tool

import (
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// File reads a definition from src, the text of the named file: Markdown if the name ends in .md, YAML or JSON
// otherwise. It returns the definition and all problems in it, sorted by position. The file is not opened. Its name is
// used in diagnostics, and as the name of the tool if the text has none.
//
// The Definition is never nil. If the Diagnostics contain an Error (see Err), it holds only the parts that could be
// read: enough for a listing, but not for a run.
func File(file string, src []byte) (*Definition, Diagnostics) {
	if !isPage(file) {
		return DecodeDocument(file, src)
	}
	d := &keytable.Decoder{Src: diagnostic.NewSource(file, src)}
	def := newDraft(file, src)
	readPage(d, def)
	return def.Definition, d.Found.Sorted()
}
