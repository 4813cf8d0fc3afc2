package hooks

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// bundleHeader is the beginning of the text that a run stores for a bundled tool. The files that
// were bundled may change or disappear; a resume, and anyone who inspects the run later, needs
// the tool as it was.
const bundleHeader = "// flowrun bundle 1 "

// bundleInfo is the rest of that line: the description of the code below it.
type bundleInfo struct {
	Answer   description
	Packages string          `json:",omitempty"`
	Map      json.RawMessage `json:",omitempty"`
}

// storedBundle returns the text to store: the bundle with the description of its tool.
func storedBundle(m *tool.Module, answer description) []byte {
	head, err := json.Marshal(bundleInfo{answer, m.Packages, m.Map})
	if err != nil {
		return nil
	}
	return append([]byte(bundleHeader+string(head)+"\n"), m.Code...)
}

// readStoredBundle returns the definition for a text that a run has stored, or nil if src is not
// such a text. The text is the Source of the definition, so that people see the code that runs.
func readStoredBundle(file string, src []byte) (*tool.Definition, tool.Diagnostics) {
	head, code, ok := bytes.Cut(src, []byte("\n"))
	about, is := strings.CutPrefix(string(head), bundleHeader)
	var kept bundleInfo
	if !ok || !is || json.Unmarshal([]byte(about), &kept) != nil {
		return nil, nil
	}
	m := &tool.Module{File: file, Code: code, Map: kept.Map, Packages: kept.Packages}
	def, found := kept.Answer.definition(m, toolStem(file))
	def.Source = src
	return def, found
}

// KeptModules returns the node_modules folder that the tool in this stored text needs to run
// again, or "" if it needs none. Only tools for Node.js need one; the code of others contains
// their packages.
func KeptModules(text []byte) string {
	def, _ := readStoredBundle("", text)
	if def == nil || !def.Steps[0].Script().Module.Node {
		return ""
	}
	return def.Steps[0].Script().Module.Packages
}
