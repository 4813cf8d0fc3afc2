package check

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// notifications checks the commands of notifications. Everything else was checked when the definition was decoded.
func notifications(def *tool.Definition) (ds tool.Diagnostics) {
	for i, n := range def.Notify {
		if n.Command == nil {
			continue
		}
		if _, err := expr.Words(n.Command.S); err != nil {
			ds = append(ds, tool.Diagnostic{Code: "bad-notification", Severity: tool.Error, Pos: n.Command.Pos, Len: max(1, len([]rune(n.Command.S))),
				Path: fmt.Sprintf("notify[%d].command", i), Message: "the command of the notification cannot be started: " + err.Error(),
				Hint: "write a program and its arguments; for a script, sh -c '...'"})
		}
	}
	return ds
}
