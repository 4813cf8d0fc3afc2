package ui

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/discovery"
	"github.com/flowrun/flowrun/internal/service/config"
)

// invalidCommands returns a diagnostic for each setting with a command that cannot be split into
// words.
func invalidCommands(c *config.Config) (found tool.Diagnostics) {
	for _, v := range c.Values {
		if v.Text() == "" || !slices.Contains([]string{"tools.discoveryCommand", "tools.callCommand"}, v.Key) {
			continue // an empty value removes the one of a file with lower precedence
		}
		if err := discovery.Check(v.Text()); err != nil {
			found = append(found, tool.Diagnostic{Code: "bad-command", Severity: tool.Error, Pos: v.Origin.Pos, Path: v.Key,
				Message: fmt.Sprintf("%s: %v", v.Key, err), Hint: "write a program and its arguments; flowrun does not use a shell, so you can use quotes, but not variables or pipes"})
		}
	}
	return found
}
