package lint

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Unused returns a note for each permission that traced runs had and none of them used. runs says in how many runs that
// was.
func Unused(def *tool.Definition, runs map[string]int) tool.Diagnostics {
	var notes tool.Diagnostics
	for i, p := range def.Security.RequiredPermissions {
		if n := runs[p.S]; n > 0 {
			notes = append(notes, tool.Diagnostic{Code: "unused-permission", Severity: tool.Note, Pos: p.Pos, Len: len([]rune(p.S)),
				Path:    fmt.Sprintf("security.required-permissions[%d]", i),
				Message: fmt.Sprintf("the permission %s was not used in any traced run (%d)", p.S, n),
				Hint:    "remove it, or run the tool with --trace-permissions in a way that uses it"})
		}
	}
	return notes.Sorted()
}
