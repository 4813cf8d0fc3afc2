package docs

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

//go:embed schemas/*.v1.json
var schemaFiles embed.FS

// SchemaNames returns the names that Schema accepts, sorted: "tool", and those of the files in schemas.
func SchemaNames() []string {
	names := []string{"tool"}
	files, _ := schemaFiles.ReadDir("schemas") // embedded, so it can be read
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".v1.json"))
	}
	slices.Sort(names)
	return names
}

// Schema returns the JSON Schema of one form that flowrun reads or writes, as indented JSON. "tool" is a definition
// file (draft-07, which editors read; see tool.Schema). The other names are the documents flowrun/NAME.v1 (draft
// 2020-12), such as "run"; a document has that name in its field schema, an event of a run has its version in v. A
// document may hold fields that a later release adds, so the schemas of documents allow unknown ones. The error reports
// an unknown name.
func Schema(name string) ([]byte, error) {
	switch names := SchemaNames(); {
	case !slices.Contains(names, name):
		return nil, fmt.Errorf("unknown schema %q: use one of %s", name, strings.Join(names, ", "))
	case name == "tool":
		return toolSchema()
	}
	return schemaFiles.ReadFile("schemas/" + name + ".v1.json")
}

func toolSchema() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(tool.Schema())
	return b.Bytes(), err
}
