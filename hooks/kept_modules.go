package hooks

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/flowrun/flowrun/tool"
)

// keptHead begins what a run keeps of a tool that was bundled. The files it was made of
// change and go; the run, and whoever looks at it later, needs it as it was.
const keptHead = "// flowrun bundle 1 "

// keptTool is the rest of that line: what is known of the code below it.
type keptTool struct {
	Answer   description
	Packages string          `json:",omitempty"`
	Map      json.RawMessage `json:",omitempty"`
}

// keptForm is the text of a bundle with what its tool said of itself.
func keptForm(m *tool.Module, answer description) []byte {
	head, err := json.Marshal(keptTool{answer, m.Packages, m.Map})
	if err != nil {
		return nil
	}
	return append([]byte(keptHead+string(head)+"\n"), m.Code...)
}

// restored is the definition that a run has kept; nil where src is something else. The text
// is its Source, so that whoever is shown it sees what runs.
func restored(file string, src []byte) (*tool.Definition, tool.Diagnostics) {
	head, code, ok := bytes.Cut(src, []byte("\n"))
	about, is := strings.CutPrefix(string(head), keptHead)
	var kept keptTool
	if !ok || !is || json.Unmarshal([]byte(about), &kept) != nil {
		return nil, nil
	}
	m := &tool.Module{File: file, Code: code, Map: kept.Map, Packages: kept.Packages}
	def, found := kept.Answer.read(m, toolStem(file))
	def.Source = src
	return def, found
}

// KeptModules is the node_modules folder that a tool needs to run again which a run has kept
// as this text; "" where it needs none: only a tool for Node.js does, the code of others
// has their packages in it.
func KeptModules(text []byte) string {
	def, _ := restored("", text)
	if def == nil || !def.Steps[0].Script().Module.Node {
		return ""
	}
	return def.Steps[0].Script().Module.Packages
}
