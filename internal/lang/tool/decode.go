package tool

import (
	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// Decode reads a definition from src, the text of the named file: Markdown if the name ends in .md, YAML or JSON
// otherwise. It returns the definition and all problems in it, sorted by position. The file is not opened. Its name is
// used in diagnostics, and as the name of the tool if the text has none.
//
// The Definition is never nil. If the Diagnostics contain an Error (see Err), it holds only the parts that could be
// read: enough for a listing, but not for a run.
func Decode(file string, src []byte) (*Definition, Diagnostics) {
	d := &keytable.Decoder{Src: diagnostic.NewSource(file, src)}
	def := &draft{Definition: &Definition{Name: Stem(file), File: file, Source: src}}
	def.Pos = Pos{File: file, Line: 1, Col: 1}
	if isPage(file) {
		readPage(d, def)
	} else {
		document(d, def)
	}
	return def.Definition, d.Found.Sorted()
}

// Loader reads a definition from the contents of a file, like Decode. It must be safe for concurrent use.
type Loader func(file string, src []byte) (*Definition, Diagnostics)

func document(d *keytable.Decoder, def *draft) {
	if problem, bad := d.Src.Problem(); bad {
		d.Report(problem)
		return
	}
	root := topMapping(d, "the file")
	if root == nil {
		return
	}
	def.Pos = d.Pos(root)
	d.Root = toolObject
	d.Object(toolObject, def, root)
	checkDefinition(d, def)
}

// topMapping parses the source and returns its top node, or nil if it is not a mapping. what names the source.
func topMapping(d *keytable.Decoder, what string) *yaml.Node {
	root := d.Parse()
	if root == nil || !d.Shape(root) {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		d.Fail(root, "wrong-type", "cannot read the definition: "+what+" contains "+keytable.Describe(root)+", not a mapping of keys", "write keys such as name: and description:")
		return nil
	}
	return root
}
