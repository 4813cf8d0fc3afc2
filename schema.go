package flowrun

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/tool"
)

//go:embed docs/schemas/*.v1.json
var schemaFiles embed.FS

// schemaNames are the documents that have a JSON Schema.
var schemaNames = []string{"diagnostics", "doctor", "event", "explain", "explain-cache", "notice", "plan", "ps", "run", "runs", "stats", "tests", "tool"}

// SchemaNames are the names that Schema knows, sorted.
func SchemaNames() []string { return slices.Clone(schemaNames) }

// Schema is the JSON Schema of one form that flowrun reads or writes, as indented
// JSON: "tool" is a definition file (draft-07, which editors read; see tool.Schema);
// "run", "runs", "ps", "event", "notice", "explain", "explain-cache", "plan" (run --dry-run), "doctor", "stats", "tests" and
// "diagnostics" are the documents flowrun/run.v1, flowrun/runs.v1, flowrun/ps.v1, flowrun/event.v1, flowrun/notice.v1,
// flowrun/explain.v1, flowrun/explain-cache.v1, flowrun/plan.v1, flowrun/doctor.v1,
// flowrun/stats.v1, flowrun/tests.v1 and flowrun/diagnostics.v1 (draft 2020-12). A document may hold fields that a later
// release adds, so the schemas of documents allow unknown ones. The error tells of an unknown name.
func Schema(name string) ([]byte, error) {
	switch {
	case !slices.Contains(schemaNames, name):
		return nil, fmt.Errorf("unknown schema %q: use one of %s", name, strings.Join(schemaNames, ", "))
	case name == "tool":
		return toolSchema()
	}
	return schemaFiles.ReadFile("docs/schemas/" + name + ".v1.json")
}

func toolSchema() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(tool.Schema())
	return b.Bytes(), err
}
