package tool

import (
	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// Loader reads a definition from the contents of a file, like DecodeDocument. It must be safe for concurrent use.
type Loader func(file string, src []byte) (*Definition, Diagnostics)

// DecodeDocument reads a definition that is YAML or JSON: see decode.File, which chooses the format by the name of the file.
func DecodeDocument(file string, src []byte) (*Definition, Diagnostics) {
	d := &keytable.Decoder{Src: diagnostic.NewSource(file, src)}
	def := NewDraft(file, src)
	document(d, def)
	return def.Definition, d.Found.Sorted()
}

// NewDraft returns the draft of a definition in which nothing has been read.
func NewDraft(file string, src []byte) *Draft {
	def := &Draft{Definition: &Definition{Name: Stem(file), File: file, Source: src}}
	def.Pos = Pos{File: file, Line: 1, Col: 1}
	return def
}

func document(d *keytable.Decoder, def *Draft) {
	if problem, bad := d.Src.Problem(); bad {
		d.Report(problem)
		return
	}
	root := TopMapping(d, "the file")
	if root == nil {
		return
	}
	def.Pos = d.Pos(root)
	d.Root = toolObject
	d.Object(toolObject, def, root)
	checkDefinition(d, def)
}

// TopMapping parses the source and returns its top node, or nil if it is not a mapping. what names the source.
func TopMapping(d *keytable.Decoder, what string) *yaml.Node {
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
