package toolfiles

import (
	"errors"
	"slices"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// Check parses a text as the definition at path and reports all its problems: those of the
// file itself and, unless alone is set, those of what it uses. lib finds the tools that it
// uses.
func Check(lib *library.Library, path string, scope tool.Scope, text []byte, alone bool) (*tool.Definition, tool.Diagnostics) {
	if alone {
		return lib.Read(path, scope, text)
	}
	def, _, found := Compile(lib, path, scope, text)
	return def, found
}

// Compile is Check that also returns the plan. plan is nil if the definition has errors.
func Compile(lib *library.Library, path string, scope tool.Scope, text []byte) (def *tool.Definition, plan *engine.Plan, found tool.Diagnostics) {
	def, found = lib.Read(path, scope, text)
	plan, err := engine.CompileDefinition(lib, def)
	var more tool.Diagnostics
	switch {
	case err == nil:
		more = plan.Warnings
	case errors.As(err, &more):
	default:
		more = tool.Diagnostics{{Code: "unreadable", Severity: tool.Error, Pos: def.Pos, Message: err.Error()}}
	}
	if found.Err() != nil { // the graph of a definition with errors is not what its author means
		more = slices.DeleteFunc(more, func(d tool.Diagnostic) bool { return d.Code == "graph" })
		plan = nil
	}
	return def, plan, append(found, more...).Sorted()
}
