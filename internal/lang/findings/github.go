// Package findings writes diagnostics in the formats of other programs: as workflow commands, which GitHub Actions
// shows next to the changed lines of a pull request, and as SARIF 2.1.0, which code scanners and editors read.
package findings

import (
	"fmt"
	"io"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// GitHub writes one workflow command on each line: ::error file=,line=,col=,title=::message. Columns count characters.
// name returns the path of a file as readers know it.
func GitHub(w io.Writer, ds tool.Diagnostics, name func(file string) string) error {
	for _, d := range ds {
		message := d.Message
		if d.Hint != "" {
			message += "\n" + d.Hint
		}
		properties := []Property{{Key: "file", Value: name(d.Pos.File)}}
		if d.Pos.Line > 0 {
			properties = append(properties, Property{Key: "line", Value: fmt.Sprint(d.Pos.Line)},
				Property{Key: "col", Value: fmt.Sprint(d.Pos.Col)},
				Property{Key: "endColumn", Value: fmt.Sprint(d.Pos.Col + max(1, d.Len))})
		}
		properties = append(properties, Property{Key: "title", Value: "flowrun " + d.Code})
		if _, err := fmt.Fprintln(w, WorkflowCommand(commandNames[d.Severity], message, properties...)); err != nil {
			return err
		}
	}
	return nil
}

var commandNames = map[tool.Severity]string{tool.Error: "error", tool.Warning: "warning", tool.Note: "notice"}
