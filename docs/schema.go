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

// schemaNames lists the documents that have a JSON Schema.
var schemaNames = []string{"artifacts", "deps", "diagnostics", "docs", "doctor", "event", "explain", "explain-cache", "notice", "plan", "ps", "run", "run-diff", "runs", "server-tools", "servers", "state", "stats", "tests", "tool"}

// SchemaNames returns the names that Schema accepts, sorted.
func SchemaNames() []string { return slices.Clone(schemaNames) }

// Schema returns the JSON Schema of one form that flowrun reads or writes, as indented JSON. "tool" is a definition
// file (draft-07, which editors read; see tool.Schema). The other names are the documents flowrun/NAME.v1 (draft
// 2020-12): "run", "run-diff", "runs", "ps", "event", "notice", "explain", "explain-cache", "plan" (run --dry-run), "docs", "doctor",
// "state", "stats", "tests", "diagnostics", "deps", "artifacts", "servers" and "server-tools". A document may hold fields
// that a later release adds, so the schemas of documents allow unknown ones. The error reports an unknown name.
func Schema(name string) ([]byte, error) {
	switch {
	case !slices.Contains(schemaNames, name):
		return nil, fmt.Errorf("unknown schema %q: use one of %s", name, strings.Join(schemaNames, ", "))
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
