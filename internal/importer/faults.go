package importer

import (
	"encoding/json"
	"fmt"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// file is what the nodes of one file share.
type file struct{ faults []tool.Diagnostic }

// expect records a fault if a value that exists is not what the reader asks for. Without it the value would be read as an
// empty text or as false, and what it guards would run unguarded.
func (n Node) expect(what string, ok bool) {
	if ok || n.file == nil || !n.Exists() {
		return
	}
	n.file.faults = append(n.file.faults, tool.Diagnostic{Code: "wrong-type", Severity: tool.Error, Pos: n.v.Pos,
		Message: fmt.Sprintf("%s: expected %s, found %s", n.key, what, n.shape()), Hint: "check that this is the right file and format"})
}

func (n Node) shape() string {
	switch n.v.Scalar.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int64, float64, json.Number:
		return "a number"
	}
	if n.IsList() {
		return "a list"
	}
	return "a mapping"
}

// Unit runs read, which reads one part of the file, such as a task or a step. It returns why the part is left out: the
// reason of read, or the first fault that read has found.
func (n Node) Unit(read func() (why string)) (why string) {
	if n.file == nil {
		return read()
	}
	before := len(n.file.faults)
	why = read()
	found := n.file.faults[before:]
	n.file.faults = n.file.faults[:before]
	if why == "" && len(found) > 0 {
		why = fmt.Sprintf("line %d: %s", found[0].Pos.Line, found[0].Message)
	}
	return why
}

// Faults are the faults that no Unit has taken: they concern the whole file, which is refused. The error is tool.Diagnostics.
func (n Node) Faults() error {
	if n.file == nil || len(n.file.faults) == 0 {
		return nil
	}
	return tool.Diagnostics(n.file.faults)
}
