// Package findings writes diagnostics in the forms of other programs: as commands of
// GitHub Actions, which shows them beside the changed lines of a pull request, and as
// SARIF 2.1.0, which code scanners and editors read.
package findings

import (
	"fmt"
	"io"
	"strings"

	"github.com/flowrun/flowrun/tool"
)

// GitHub writes one workflow command a line: ::error file=,line=,col=,title=::message.
// Columns count characters. The message and the properties are escaped as GitHub asks.
func GitHub(w io.Writer, ds tool.Diagnostics) error {
	for _, d := range ds {
		message := d.Message
		if d.Hint != "" {
			message += "\n" + d.Hint
		}
		var properties []string
		add := func(key, value string) { properties = append(properties, key+"="+property.Replace(value)) }
		if d.Pos.File != "" {
			add("file", d.Pos.File)
		}
		if d.Pos.Line > 0 {
			add("line", fmt.Sprint(d.Pos.Line))
			add("col", fmt.Sprint(d.Pos.Col))
			add("endColumn", fmt.Sprint(d.Pos.Col+max(1, d.Len)))
		}
		add("title", fmt.Sprintf("flowrun %s", d.Code))
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", command[d.Severity], strings.Join(properties, ","), data.Replace(message)); err != nil {
			return err
		}
	}
	return nil
}

var command = map[tool.Severity]string{tool.Error: "error", tool.Warning: "warning", tool.Note: "notice"}

// What GitHub reads as its own must be escaped; in properties that is more.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
