// Package decode reads definition files. [File] chooses the format by the name of the file: YAML and JSON are read by package
// tool; a Markdown tool, a page with a front matter and fenced blocks, is read here. Both give a [tool.Definition] and all
// problems in the text.
//
// A page is split by package markdown. Its front matter and its YAML blocks are decoded with the tables of page_keys.go, which
// take their keys from that of package tool where the meaning is the same. Its scripts become steps.
//
// JavaScript tools are read by package hooks: see library.Library.Handle.
package decode

import (
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// File reads a definition from src, the text of the named file: Markdown if the name ends in .md, YAML or JSON
// otherwise. It returns the definition and all problems in it, sorted by position. The file is not opened. Its name is
// used in diagnostics, and as the name of the tool if the text has none.
//
// The Definition is never nil. If the Diagnostics contain an Error (see Err), it holds only the parts that could be
// read: enough for a listing, but not for a run.
func File(file string, src []byte) (*tool.Definition, diagnostic.Diagnostics) {
	if !isPage(file) {
		return tool.DecodeDocument(file, src)
	}
	d := &keytable.Decoder{Src: diagnostic.NewSource(file, src)}
	def := tool.NewDraft(file, src)
	readPage(d, def)
	return def.Definition, d.Found.Sorted()
}
